/** A piece of a document in the library's light markup. */
export type Block =
  | { kind: 'heading'; text: string; level: 1 | 2 }
  | { kind: 'paragraph'; text: string }
  | { kind: 'list'; items: string[] }
  | { kind: 'table'; rows: string[][] }
  | { kind: 'code'; text: string };

/** `# heading`, `## heading`, `- item`, `| cell | cell |`, code between lines of three backticks; any other line is a paragraph. */
export function blocksOf(markup: string): Block[] {
  const blocks: Block[] = [];
  let code: string[] | undefined;
  for (const line of markup.split('\n')) {
    if (line === '```') {
      if (code !== undefined) blocks.push({ kind: 'code', text: code.join('\n') });
      code = code === undefined ? [] : undefined;
    } else if (code !== undefined) {
      code.push(line);
    } else if (line.trim() !== '') {
      addLine(line, blocks);
    }
  }
  return blocks;
}

function addLine(line: string, blocks: Block[]): void {
  const last = blocks.at(-1);
  if (line.startsWith('|')) {
    const row = line.slice(1, -1).split('|');
    const cells = row.map((cell) => cell.trim());
    if (last?.kind === 'table') last.rows.push(cells);
    else blocks.push({ kind: 'table', rows: [cells] });
  } else if (line.startsWith('- ')) {
    if (last?.kind === 'list') last.items.push(line.slice(2));
    else blocks.push({ kind: 'list', items: [line.slice(2)] });
  } else if (line.startsWith('# ')) {
    blocks.push({ kind: 'heading', level: 1, text: line.slice(2) });
  } else if (line.startsWith('## ')) {
    blocks.push({ kind: 'heading', level: 2, text: line.slice(3) });
  } else {
    blocks.push({ kind: 'paragraph', text: line });
  }
}

/** The blocks from each level-1 or level-2 heading to the next. */
export function sectionsOf(blocks: readonly Block[]): Block[][] {
  const sections: Block[][] = [];
  for (const block of blocks) {
    const last = sections.at(-1);
    if (block.kind === 'heading' || last === undefined) sections.push([block]);
    else last.push(block);
  }
  return sections;
}
