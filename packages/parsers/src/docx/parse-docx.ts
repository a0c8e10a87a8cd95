import type { ParsedDocument, ParseInput } from '@sluice/core';
import { createDocumentBuilder } from '../document-builder.js';
import { finishBuilt } from '../finish-document.js';
import type { ChildParser } from '../format-entry.js';
import { settingsOf } from '../format-settings.js';
import { breathe } from '../limits.js';
import { type Chart, readChart } from '../office/chart.js';
import { type OfficePackage, openPackage, type Relationship } from '../office/package.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, childNodes, relationshipIdOf } from '../xml/xml-node.js';
import { createBodyWriter } from './body-writer.js';
import { readEmbedded } from './embedded.js';
import { writeHeaders } from './headers.js';
import { readNumbering, readStyles } from './styles.js';

/** Blocks between two looks at the clock and the signal. */
const STRIDE = 500;

/** Word documents: the body in order with all tracked changes accepted, notes, headers and footers at the end. */
export function createDocxParser(children: ChildParser): (input: ParseInput) => Promise<ParsedDocument> {
  return async (input) => {
    const office = await openPackage(input);
    const builder = createDocumentBuilder(input.limits);
    const byId = await office.relationships(office.mainPart);
    const relationships = [...byId.values()];
    const partOf = (type: string): string | undefined => relationships.find((relationship) => relationship.type === type)?.part;
    const writer = createBodyWriter(builder, {
      styles: readStyles(await office.tree(partOf('styles'))),
      numbering: readNumbering(await office.tree(partOf('numbering'))),
      charts: await readCharts(office, byId),
    });
    const warnings: string[] = [];
    let count = 0;
    for await (const event of office.events(office.mainPart, (name) => name === 'p' || name === 'tr')) {
      if (event.type === 'open' && event.name === 'tbl') writer.openTable();
      else if (event.type === 'close' && event.name === 'tbl') writer.closeTable();
      else if (event.type === 'open' && event.name === 'altChunk') {
        const id = relationshipIdOf(event.attributes);
        const embedded = await readEmbedded(input, office, children, id === undefined ? undefined : byId.get(id)?.part);
        warnings.push(...embedded.warnings);
        if (embedded.document !== undefined) writer.embedded(embedded.document);
      } else if (event.type === 'node' && event.node.name === 'tr') writer.row(event.node);
      else if (event.type === 'node') writer.paragraph(event.node);
      if (++count % STRIDE === 0) await breathe(input);
    }
    const notes = {
      footnote: await readNotes(office, partOf('footnotes'), 'footnote', writer.cellText),
      endnote: await readNotes(office, partOf('endnotes'), 'endnote', writer.cellText),
    };
    writer.close((note) => notes[note.kind].get(note.id));
    if (settingsOf(input).docx.headers_footers) await writeHeaders(office, relationships, builder);
    return finishBuilt('docx', builder, { metadata: await office.metadata(), warnings, titleFromHeading: true });
  };
}

async function readCharts(office: OfficePackage, relationships: ReadonlyMap<string, Relationship>): Promise<Map<string, Chart>> {
  const charts = new Map<string, Chart>();
  for (const [id, { type, part }] of relationships) {
    const chart = type === 'chart' ? readChart(await office.tree(part)) : undefined;
    if (chart !== undefined) charts.set(id, chart);
  }
  return charts;
}

/** Texts of the notes by id. */
async function readNotes(
  office: OfficePackage,
  part: string | undefined,
  name: 'footnote' | 'endnote',
  textOf: (node: XmlNode) => string,
): Promise<Map<string, string>> {
  const notes = new Map<string, string>();
  for await (const event of office.events(part, (candidate) => candidate === name)) {
    if (event.type !== 'node') continue;
    const type = attribute(event.node, 'type');
    const id = attribute(event.node, 'id');
    // Separators are lines, not notes.
    if (id === undefined || (type !== undefined && type !== 'normal')) continue;
    notes.set(id, textOf({ ...event.node, children: childNodes(event.node) }));
  }
  return notes;
}
