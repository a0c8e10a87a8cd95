import type { Element, ParsedDocument, ParseInput } from '@sluice/core';
import { cleanText } from '../clean-text.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { breathe, checkTextLength } from '../limits.js';
import { paragraphRanges, sliceElement, trimLinesRange } from '../source-text.js';
import { parseSource } from './grammars.js';
import { languageOfName } from './languages.js';
import { outline } from './outline.js';

/** Longer files (UTF-16 units) are generated ones: they are read by their blank lines. */
const MAX_PARSED = 4 * 1024 * 1024;

/**
 * Source code: the text is the file's, an element a function, class or group of statements, comments with what they are about. In
 * languages without a grammar, blocks between blank lines.
 */
export async function parseCode(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const text = cleanText(decoded.text);
  checkTextLength(text.length, input.limits);
  await breathe(input);
  const lang = languageOfName(input.name) ?? languageOfShebang(text);
  const elements =
    (text.length <= MAX_PARSED && lang !== undefined && (await parsedElements(text, lang))) || blockElements(text, lang);
  return finishSource('code', text, elements, { metadata: {}, warnings: decoded.warnings, lang: 'none' });
}

async function parsedElements(text: string, lang: string): Promise<Element[] | undefined> {
  const tree = await parseSource(text, lang);
  if (tree === undefined) return undefined;
  try {
    const cuts = outline(tree.rootNode, text);
    if (cuts[0]?.at !== 0) cuts.unshift({ at: 0, context: [] });
    const elements: Element[] = [];
    let from = 0;
    for (const [index, cut] of cuts.entries()) {
      const next = cuts[index + 1]?.at ?? text.length;
      const range = trimLinesRange(
        text,
        Math.max(from, lineStart(text, cut.at)),
        index + 1 < cuts.length ? lineStart(text, next) : next,
      );
      if (range === undefined) continue;
      elements.push(
        sliceElement(text, range, { kind: 'code', lang, ...(cut.context.length > 0 ? { context: cut.context } : {}) }),
      );
      from = range.end;
    }
    return elements;
  } finally {
    tree.delete();
  }
}

/** Where the line begins, if only white space stands before; a declaration behind other code begins where it does. */
function lineStart(text: string, at: number): number {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  return text.slice(start, at).trim() === '' ? start : at;
}

function blockElements(text: string, lang: string | undefined): Element[] {
  const elements: Element[] = [];
  for (const block of paragraphRanges(text)) {
    const range = trimLinesRange(text, elements.at(-1)?.end ?? 0, block.end) ?? block;
    elements.push(sliceElement(text, range, { kind: 'code', ...(lang === undefined ? {} : { lang }) }));
  }
  return elements;
}

function languageOfShebang(text: string): string | undefined {
  const program = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(?:\S*\/)?([a-z]+)/.exec(text.slice(0, 200))?.[1];
  const known: Readonly<Record<string, string>> = {
    sh: 'shell',
    bash: 'shell',
    zsh: 'shell',
    ksh: 'shell',
    dash: 'shell',
    python: 'python',
    node: 'javascript',
    ruby: 'ruby',
    php: 'php',
  };
  return program === undefined ? undefined : known[program];
}
