import { type ParsedDocument, type ParseInput, type SelfMetadata, SluiceError } from '@sluice/core';
import { createDocumentBuilder } from '../document-builder.js';
import { finishBuilt } from '../finish-document.js';
import { settingsOf } from '../format-settings.js';
import { breathe } from '../limits.js';
import { type SheetRow, withoutLeadingColumns } from '../xlsx/read-sheet.js';
import { writeSheet } from '../xlsx/write-sheet.js';
import { readXml, type XmlNode, xmlEvents } from '../xml/xml-events.js';
import { attributeOf, child, childNodes } from '../xml/xml-node.js';
import { openZip, type ZipArchive } from '../zip/zip-archive.js';
import { createOdfRows } from './odf-table.js';
import { createOdfStyles, type OdfStyles, odfBlockText, plainText } from './odf-text.js';
import { createOdfWriter } from './odf-writer.js';

const STRIDE = 500;

/** OpenDocument files (ODF 1.3): text, sheets and slides. */
export async function parseOdf(input: ParseInput): Promise<ParsedDocument> {
  const archive = openZip(input.bytes, input.limits);
  await refuseEncrypted(input, archive);
  const pieces = archive.open('content.xml');
  if (pieces === undefined) throw new SluiceError('corrupt', `${input.name} lacks its content`);
  const styles = createOdfStyles();
  for (const node of childNodes(child(await tree(archive, 'styles.xml', input), 'styles'))) styles.add(node);
  const builder = createDocumentBuilder(input.limits);
  const warnings: string[] = [];
  const writer = createOdfWriter(builder, styles, { notes: settingsOf(input).pptx.notes });
  const sheets = createSheets(builder, styles, settingsOf(input).xlsx.hidden_sheets, warnings);
  let isSheet = false;
  let skipped = 0;
  let count = 0;
  // Asked as elements open, before their events are taken.
  const cut = (name: string): boolean => {
    isSheet ||= name === 'spreadsheet';
    return ['h', 'p', 'list', 'style', 'list-style', 'table-row'].includes(name) || (name === 'table' && !isSheet);
  };
  for await (const event of xmlEvents(pieces, cut, input.limits)) {
    if (event.type !== 'node' && event.name === 'tracked-changes') skipped += event.type === 'open' ? 1 : -1;
    if (skipped > 0) continue;
    if (event.type === 'node' && (event.node.name === 'style' || event.node.name === 'list-style')) styles.add(event.node);
    else if (isSheet) sheets.take(event);
    else if (event.type === 'node') writer.node(event.node);
    else writer.edge(event);
    if (++count % STRIDE === 0) await breathe(input);
  }
  writer.close();
  const metadata = metadataOf(child(await tree(archive, 'meta.xml', input), 'meta'));
  return finishBuilt('odf', builder, { metadata, warnings, titleFromHeading: !isSheet });
}

async function tree(archive: ZipArchive, name: string, input: ParseInput): Promise<XmlNode | undefined> {
  const pieces = archive.open(name);
  return pieces === undefined ? undefined : readXml(pieces, input.limits);
}

async function refuseEncrypted(input: ParseInput, archive: ZipArchive): Promise<void> {
  const manifest = await tree(archive, 'META-INF/manifest.xml', input);
  if (childNodes(manifest).some((entry) => child(entry, 'encryption-data') !== undefined))
    throw new SluiceError('password_required', `${input.name} is encrypted; save it without a password`);
}

/** Sheets of a workbook, as those of Excel are written. */
function createSheets(
  builder: Parameters<typeof writeSheet>[0],
  styles: OdfStyles,
  readHidden: boolean,
  warnings: string[],
): { take(event: Parameters<ReturnType<typeof createOdfWriter>['edge']>[0] | { type: 'node'; node: XmlNode }): void } {
  let name = '';
  let isHidden = false;
  let number = 1;
  let rows: SheetRow[] = [];
  let reader = createOdfRows((cell) => odfBlockText(cell, styles.positions));
  return {
    take(event) {
      if (event.type === 'node') {
        if (event.node.name !== 'table-row') return;
        const { cells, repeat } = reader.read(event.node);
        for (let index = 0; index < repeat && cells.length > 0; index++) rows.push({ number: number + index, cells: [...cells] });
        number += Math.max(repeat, Number(attributeOf(event.node.attributes, 'number-rows-repeated') ?? 1) || 1);
      } else if (event.name === 'table' && event.type === 'open') {
        name = attributeOf(event.attributes, 'name') ?? '';
        isHidden = styles.hidden.has(attributeOf(event.attributes, 'style-name') ?? '');
        number = 1;
        rows = [];
        reader = createOdfRows((cell) => odfBlockText(cell, styles.positions));
      } else if (event.name === 'table') {
        if (isHidden && !readHidden) warnings.push(`hidden_sheet_skipped: ${name}`);
        else writeSheet(builder, name, withoutLeadingColumns(rows));
      }
    },
  };
}

function metadataOf(meta: XmlNode | undefined): SelfMetadata {
  const title = plainText(child(meta, 'title'));
  const author = plainText(child(meta, 'creator')) || plainText(child(meta, 'initial-creator'));
  const created = plainText(child(meta, 'creation-date'));
  const tags = childNodes(meta, 'keyword').map(plainText);
  return {
    ...(title === '' ? {} : { doc_title: title }),
    ...(author === '' ? {} : { author }),
    ...(/^\d{4}-\d\d-\d\dT/.test(created) ? { created_at: created } : {}),
    ...(tags.length === 0 ? {} : { tags }),
  };
}
