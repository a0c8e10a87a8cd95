import type { ParsedDocument, ParseInput } from '@sluice/core';
import { cleanText } from '../clean-text.js';
import { dataElements, dataTitle } from '../data/data-elements.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { breathe, checkTextLength } from '../limits.js';
import { readYaml, yamlValue } from './read-yaml.js';

const YAML_DATA = { lang: 'yaml', valueOf: yamlValue };

/** YAML: the text is the file's, parted by its indentation. Nothing is resolved: aliases stay names, whatever they would grow to. */
export async function parseYaml(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const text = cleanText(decoded.text);
  checkTextLength(text.length, input.limits);
  await breathe(input);
  const root = readYaml(text, input.limits.depth);
  const elements = dataElements(text, root, YAML_DATA);
  return finishSource('yaml', text, elements, { metadata: dataTitle(text, root, YAML_DATA), warnings: decoded.warnings });
}
