/** Throughput of every chunking strategy with stand-ins for the models, which answer at once. Linear means: MB/s stays as text grows. */
import { chunkDocument } from '@sluice/chunking';
import type { Embedder, Llm } from '@sluice/core';
import { createTokenizer } from '@sluice/models';
import { createParserRegistry, defaultParseLimits } from '@sluice/parsers';
import type { BenchContext, Row } from '../bench.js';
import { paragraph, seeded } from '../texts.js';

const STRATEGIES = ['auto', 'recursive', 'semantic', 'sentence-window', 'propositions', 'parent-document'];

/** Vectors by the texts' lengths: adjacent sentences differ, and nothing is computed. */
const standIn: Embedder = {
  id: 'stand-in',
  dimensions: 8,
  maxTokens: 256,
  embed: async (texts) => texts.map((text) => Float32Array.from({ length: 8 }, (_, n) => (n === text.length % 8 ? 1 : 0))),
};

/** A language model that answers at once, with the first sentence of the passage. */
const standInLlm: Llm = {
  id: 'stand-in',
  async complete({ messages }) {
    const passage = messages.at(-1)?.content.split('Passage:\n')[1] ?? '';
    return {
      text: JSON.stringify([passage.slice(0, passage.indexOf('.') + 1)]),
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    };
  },
  stream() {
    throw new Error('chunking streams no answers');
  },
};

export async function benchChunking({ services, sizes }: BenchContext): Promise<Row[]> {
  const tokenizer = await createTokenizer({ folder: services.model });
  const registry = createParserRegistry();
  const rows: Row[] = [];
  for (const size of sizes.chunked) {
    const random = seeded(11);
    let text = '';
    while (text.length < size) text += `${paragraph(random)}\n\n`;
    const document = await registry.parse({ bytes: Buffer.from(text), name: 'text.txt', limits: defaultParseLimits });
    for (const strategy of STRATEGIES) {
      const began = performance.now();
      const { chunks } = await chunkDocument(document, { strategy }, { tokenizer, embedder: standIn, llm: standInLlm });
      const ms = performance.now() - began;
      rows.push({
        what: `chunking, ${strategy}`,
        'text KB': Math.round(text.length / 1000),
        chunks: chunks.length,
        ms: Math.round(ms),
        'MB/s': Number((document.text.length / 1_000 / ms).toFixed(1)),
      });
    }
  }
  return rows;
}
