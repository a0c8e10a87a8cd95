import { readFileSync } from 'node:fs';

export interface DocBlock {
  /** First word behind the fence, as `yaml`. */
  language: string;
  /** What follows it, as `sluice.yaml invalid`. */
  label: string;
  code: string;
  /** The text between this block and the next. */
  after: string;
}

/** Fenced blocks of a page of docs/, in their order. */
export function readDocBlocks(page: string): DocBlock[] {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
  const fences = [...text.matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)];
  return fences.map((fence, at) => ({
    language: fence[1] ?? '',
    label: fence[2] ?? '',
    code: fence[3] ?? '',
    after: text.slice(fence.index + fence[0].length, fences[at + 1]?.index ?? text.length),
  }));
}

/** The cells of all rows of tables that have this header, without backticks. */
export function readDocTable(page: string, header: string): string[][] {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
  const start = text.indexOf(header);
  if (start === -1) throw new Error(`docs/${page} has no table ${header}`);
  const rows = text.slice(start).split('\n').slice(2);
  const end = rows.findIndex((row) => !row.startsWith('|'));
  return rows.slice(0, end).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}
