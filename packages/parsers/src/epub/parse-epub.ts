import { type ParsedDocument, type ParseInput, type SelfMetadata, SluiceError } from '@sluice/core';
import { cleanText, oneLine } from '../clean-text.js';
import { createDocumentBuilder } from '../document-builder.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishBuilt } from '../finish-document.js';
import { writeHtml } from '../html/html-elements.js';
import { declaredCharset } from '../html/parse-html.js';
import { parseHtmlTree } from '../html/tree.js';
import { breathe } from '../limits.js';
import { readXml, type XmlNode } from '../xml/xml-events.js';
import { attribute, child, childNodes, textContent } from '../xml/xml-node.js';
import { openZip, readEntry, type ZipArchive } from '../zip/zip-archive.js';

/** Books: the documents of the spine in order (EPUB 3.3, section 5). */
export async function parseEpub(input: ParseInput): Promise<ParsedDocument> {
  const archive = openZip(input.bytes, input.limits);
  const tree = async (name: string): Promise<XmlNode | undefined> => {
    const pieces = archive.open(name);
    return pieces === undefined ? undefined : readXml(pieces, input.limits);
  };
  const container = await tree('META-INF/container.xml');
  const rootFile = attribute(childNodes(child(container, 'rootfiles'), 'rootfile')[0], 'full-path') ?? '';
  const book = await tree(rootFile);
  if (book === undefined) throw new SluiceError('corrupt', `${input.name} lacks its package document`);
  const chapters = spineOf(book, rootFile);
  await refuseEncrypted(input, chapters, tree);
  const builder = createDocumentBuilder(input.limits);
  const warnings = new Set<string>();
  for (const [index, chapter] of chapters.entries()) {
    await breathe(input);
    input.onProgress?.(index / chapters.length);
    const bytes = await entryOf(archive, chapter);
    if (bytes === undefined) {
      warnings.add(`part_missing: ${chapter}`);
      continue;
    }
    const decoded = decodeBytes(bytes, declaredCharset(bytes));
    for (const warning of decoded.warnings) warnings.add(warning);
    writeHtml(parseHtmlTree(cleanText(decoded.text), input.limits.depth, { isXml: true }), builder);
  }
  const metadata = child(book, 'metadata');
  const lang = /^[a-z]{2}(?=$|[-_])/.exec(textContent(child(metadata, 'language')).trim().toLowerCase())?.[0];
  return finishBuilt('epub', builder, { metadata: metadataOf(metadata), warnings: [...warnings], lang, titleFromHeading: true });
}

/** Names of the chapters in the archive, in reading order. */
function spineOf(book: XmlNode, rootFile: string): string[] {
  const folder = rootFile.slice(0, rootFile.lastIndexOf('/') + 1);
  const items = new Map(childNodes(child(book, 'manifest'), 'item').map((item) => [attribute(item, 'id') ?? '', item]));
  return childNodes(child(book, 'spine'), 'itemref').flatMap((reference) => {
    const item = items.get(attribute(reference, 'idref') ?? '');
    const href = attribute(item, 'href');
    const isPage =
      /x?html/.test(attribute(item, 'media-type') ?? '') && !/(?:^|\s)nav(?:\s|$)/.test(attribute(item, 'properties') ?? '');
    return href === undefined || !isPage ? [] : [resolve(folder, href.split('#', 1)[0] ?? '')];
  });
}

function resolve(folder: string, href: string): string {
  const steps: string[] = [];
  for (const step of `${folder}${href}`.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}

/** By its name, which addresses may write with escapes. */
async function entryOf(archive: ZipArchive, name: string): Promise<Uint8Array | undefined> {
  return (await readEntry(archive, name)) ?? (await readEntry(archive, unescapeName(name)));
}

function unescapeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Fonts may be garbled without harm; text that is encrypted is a book that only its shop's reader opens. */
async function refuseEncrypted(
  input: ParseInput,
  chapters: readonly string[],
  tree: (name: string) => Promise<XmlNode | undefined>,
): Promise<void> {
  const encryption = await tree('META-INF/encryption.xml');
  const locked = childNodes(encryption).map((data) => attribute(child(child(data, 'CipherData'), 'CipherReference'), 'URI'));
  if (locked.some((uri) => uri !== undefined && chapters.includes(unescapeName(uri))))
    throw new SluiceError('password_required', `${input.name} is encrypted for one reader; Sluice reads no such books`);
}

function metadataOf(node: XmlNode | undefined): SelfMetadata {
  const value = (name: string): string => oneLine(textContent(child(node, name)));
  const authors = childNodes(node, 'creator').map((creator) => oneLine(textContent(creator)));
  const tags = childNodes(node, 'subject').map((subject) => oneLine(textContent(subject)));
  return {
    ...(value('title') === '' ? {} : { doc_title: value('title') }),
    ...(authors.length === 0 ? {} : { author: authors.join(', ') }),
    ...(/^\d{4}-\d\d-\d\d/.test(value('date')) ? { created_at: value('date') } : {}),
    ...(tags.length === 0 ? {} : { tags }),
  };
}
