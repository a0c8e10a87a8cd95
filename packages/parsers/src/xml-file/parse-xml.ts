import type { ParsedDocument, ParseInput } from '@sluice/core';
import { cleanText } from '../clean-text.js';
import { dataElements, dataTitle } from '../data/data-elements.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { declaredCharset } from '../html/parse-html.js';
import { breathe, checkTextLength } from '../limits.js';
import { readXmlFile, xmlValue } from './read-xml-file.js';

const XML_DATA = { lang: 'xml', valueOf: xmlValue };

/** XML: the text is the file's, parted at elements. No entity is expanded and nothing is loaded. */
export async function parseXml(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes, declaredCharset(input.bytes));
  const text = cleanText(decoded.text);
  checkTextLength(text.length, input.limits);
  await breathe(input);
  const root = readXmlFile(text, input.limits.depth);
  const elements = dataElements(text, root, XML_DATA);
  const top = root.members.at(-1)?.value ?? root;
  return finishSource('xml', text, elements, { metadata: dataTitle(text, top, XML_DATA), warnings: decoded.warnings });
}
