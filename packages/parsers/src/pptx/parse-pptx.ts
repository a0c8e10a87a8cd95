import type { ParsedDocument, ParseInput } from '@sluice/core';
import { createDocumentBuilder, type DocumentBuilder } from '../document-builder.js';
import { finishBuilt } from '../finish-document.js';
import { settingsOf } from '../format-settings.js';
import { breathe } from '../limits.js';
import { readChart, writeChart } from '../office/chart.js';
import { type OfficePackage, openPackage, type Relationship } from '../office/package.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, childNodes, descend, relationshipId } from '../xml/xml-node.js';
import { placeholderOf, type SlideParagraph, shapeParagraphs, shapesOf, tableRows } from './shapes.js';

/** PowerPoint presentations: slides in the order of the show, each with its notes. `page` is the slide's number. */
export async function parsePptx(input: ParseInput): Promise<ParsedDocument> {
  const office = await openPackage(input);
  const settings = settingsOf(input).pptx;
  const builder = createDocumentBuilder(input.limits);
  const relationships = await office.relationships(office.mainPart);
  const presentation = await office.tree(office.mainPart);
  const slides = childNodes(descend(presentation, 'sldIdLst'), 'sldId');
  const warnings: string[] = [];
  for (const [index, slide] of slides.entries()) {
    await breathe(input);
    input.onProgress?.(index / slides.length);
    const part = relationships.get(relationshipId(slide) ?? '')?.part;
    const tree = await office.tree(part);
    if (part === undefined || tree === undefined) {
      warnings.push(`part_missing: slide ${index + 1}`);
      continue;
    }
    if (attribute(tree, 'show') === '0' && !settings.hidden_slides) {
      warnings.push(`hidden_slide_skipped: ${index + 1}`);
      continue;
    }
    const related = await office.relationships(part);
    await writeSlide(builder, office, tree, related, index + 1);
    if (settings.notes) await writeNotes(builder, office, related, index + 1);
  }
  return finishBuilt('pptx', builder, { metadata: await office.metadata(), warnings, titleFromHeading: true });
}

async function writeSlide(
  builder: DocumentBuilder,
  office: OfficePackage,
  slide: XmlNode,
  related: ReadonlyMap<string, Relationship>,
  page: number,
): Promise<void> {
  const shapes = shapesOf(descend(slide, 'cSld', 'spTree'));
  const isTitle = (shape: XmlNode): boolean => ['title', 'ctrTitle'].includes(placeholderOf(shape) ?? '');
  for (const shape of shapes.filter(isTitle)) builder.heading(1, textOf(shapeParagraphs(shape)), { page });
  for (const shape of shapes) {
    if (isTitle(shape)) continue;
    if (shape.name === 'graphicFrame') await writeFrame(builder, office, shape, related, page);
    else writeParagraphs(builder, shapeParagraphs(shape), placeholderOf(shape) === 'body', page);
  }
}

function textOf(paragraphs: readonly SlideParagraph[]): string {
  return paragraphs.map((paragraph) => paragraph.text).join(' ');
}

function writeParagraphs(builder: DocumentBuilder, paragraphs: readonly SlideParagraph[], inBody: boolean, page: number): void {
  let items: { text: string; depth: number; marker: string }[] = [];
  const flush = (): void => {
    builder.list(items, { page });
    items = [];
  };
  // One line in a body is a sentence, several are points.
  const asList = inBody && paragraphs.filter((paragraph) => paragraph.text.trim() !== '').length > 1;
  for (const { text, depth, bullet } of paragraphs) {
    if (bullet === 'yes' || (bullet === 'inherited' && asList)) items.push({ text, depth, marker: '-' });
    else {
      flush();
      builder.paragraph(text, { page });
    }
  }
  flush();
}

/** Tables as tables; charts and diagrams by the texts in them. */
async function writeFrame(
  builder: DocumentBuilder,
  office: OfficePackage,
  frame: XmlNode,
  related: ReadonlyMap<string, Relationship>,
  page: number,
): Promise<void> {
  const data = descend(frame, 'graphic', 'graphicData');
  for (const content of childNodes(data)) {
    if (content.name === 'tbl') {
      const { rows, headerRows } = tableRows(content);
      builder.table(rows, { headerRows, page });
    } else if (content.name === 'chart') {
      const chart = readChart(await office.tree(related.get(relationshipId(content) ?? '')?.part));
      if (chart !== undefined) writeChart(builder, chart, { page });
    } else if (content.name === 'relIds') {
      const id = relationshipId(content, 'dm');
      const diagram = await office.tree(id === undefined ? undefined : related.get(id)?.part);
      const points = childNodes(descend(diagram, 'ptLst'), 'pt').map((point) =>
        textOf(shapeParagraphs({ ...point, name: 'sp' })),
      );
      builder.list(
        points.map((text) => ({ text, depth: 0, marker: '-' })),
        { page },
      );
    }
  }
}

async function writeNotes(
  builder: DocumentBuilder,
  office: OfficePackage,
  related: ReadonlyMap<string, Relationship>,
  page: number,
): Promise<void> {
  const part = [...related.values()].find((relationship) => relationship.type === 'notesSlide')?.part;
  const notes = await office.tree(part);
  const unread = new Set(['sldImg', 'sldNum', 'dt', 'hdr', 'ftr']);
  for (const shape of shapesOf(descend(notes, 'cSld', 'spTree')))
    if (!unread.has(placeholderOf(shape) ?? ''))
      builder.paragraph(
        shapeParagraphs(shape)
          .map(({ text }) => text)
          .join('\n'),
        { page },
      );
}
