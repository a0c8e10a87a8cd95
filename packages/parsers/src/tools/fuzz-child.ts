import { SluiceError } from '@sluice/core';
import { brokenLaws } from '../laws.js';
import { createParserRegistry } from '../registry.js';
import { defaultParseLimits } from '../settings.js';

export interface FuzzInput {
  name: string;
  /** base64 */
  bytes: string;
}

export interface FuzzOutcome {
  /** `parsed`, `empty`, a reason code, or what is wrong after `FAULT: `. */
  outcome: string;
  rssMb: number;
}

/** What can only come from a slip of ours: no input says it, unless the seed does. */
const JUNK = /\[object \w+\]|\bundefined\b|\bNaN\b|-- \d+ of \d+ --/;

const registry = createParserRegistry();

async function judge({ name, bytes }: FuzzInput): Promise<string> {
  const content = new Uint8Array(Buffer.from(bytes, 'base64'));
  try {
    const document = await registry.parse({ name, bytes: content, limits: defaultParseLimits, passwords: ['kettle'] });
    const bodyStart = document.frontMatter === undefined ? 0 : (document.elements[0]?.start ?? document.text.length);
    const [broken] = brokenLaws(document, bodyStart);
    if (broken !== undefined) return `FAULT: ${broken}`;
    const junk = JUNK.exec(document.text)?.[0];
    const isOfInput =
      junk !== undefined &&
      (['utf8', 'utf16le'] as const).some((encoding) => Buffer.from(content).includes(Buffer.from(junk, encoding)));
    if (junk !== undefined && !isOfInput) return `FAULT: junk ${junk}`;
    return document.elements.length === 0 ? 'empty' : 'parsed';
  } catch (error) {
    if (!(error instanceof SluiceError)) return `FAULT: ${String(error)}`;
    const { cause } = error;
    // A slip in our own code, not a complaint of a library about its input.
    const isOwn = cause instanceof TypeError || cause instanceof ReferenceError;
    const frame = isOwn ? (cause.stack ?? '').split('\n')[1] : undefined;
    if (frame?.includes('/packages/parsers/')) return `FAULT: ${cause instanceof Error ? cause.message : ''} ${frame.trim()}`;
    if (error.code === 'internal') return `FAULT: internal ${error.message}`;
    return error.code;
  }
}

process.on('message', (input: FuzzInput) => {
  void judge(input).then((outcome) => {
    process.send?.({ outcome, rssMb: process.memoryUsage.rss() / 1024 / 1024 } satisfies FuzzOutcome);
  });
});
