import type { ParsedDocument, ParseInput } from '@sluice/core';
import { createDocumentBuilder } from '../document-builder.js';
import { finishBuilt } from '../finish-document.js';
import { breathe } from '../limits.js';
import { type OfficePackage, openPackage } from '../office/package.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, childNodes } from '../xml/xml-node.js';
import { createBodyWriter } from './body-writer.js';
import { readNumbering, readStyles } from './styles.js';

/** Blocks between two looks at the clock and the signal. */
const STRIDE = 500;

/** Word documents: the body in order with all tracked changes accepted, notes at the end. */
export async function parseDocx(input: ParseInput): Promise<ParsedDocument> {
  const office = await openPackage(input);
  const builder = createDocumentBuilder(input.limits);
  const relationships = [...(await office.relationships(office.mainPart)).values()];
  const partOf = (type: string): string | undefined => relationships.find((relationship) => relationship.type === type)?.part;
  const writer = createBodyWriter(builder, {
    styles: readStyles(await office.tree(partOf('styles'))),
    numbering: readNumbering(await office.tree(partOf('numbering'))),
  });
  const warnings: string[] = [];
  let count = 0;
  for await (const event of office.events(office.mainPart, (name) => name === 'p' || name === 'tr')) {
    if (event.type === 'open' && event.name === 'tbl') writer.openTable();
    else if (event.type === 'close' && event.name === 'tbl') writer.closeTable();
    else if (event.type === 'open' && event.name === 'altChunk') warnings.push('part_not_read: a document embedded as altChunk');
    else if (event.type === 'node' && event.node.name === 'tr') writer.row(event.node);
    else if (event.type === 'node') writer.paragraph(event.node);
    if (++count % STRIDE === 0) await breathe(input);
  }
  const notes = {
    footnote: await readNotes(office, partOf('footnotes'), 'footnote', writer.cellText),
    endnote: await readNotes(office, partOf('endnotes'), 'endnote', writer.cellText),
  };
  writer.close((note) => notes[note.kind].get(note.id));
  return finishBuilt('docx', builder, { metadata: await office.metadata(), warnings, titleFromHeading: true });
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
