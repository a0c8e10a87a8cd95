import { createWordTokenizer } from '@sluice/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildContext, type Excerpt, renderExcerpt } from '../src/context.js';

const tokenizer = createWordTokenizer();
const TEXTS = Array.from({ length: 3 }, (_, doc) => Array.from({ length: 60 }, (__, at) => `w${doc}x${at}`).join(' '));

const excerpts = fc.array(
  fc
    .record({ doc: fc.nat(2), from: fc.nat(400), length: fc.integer({ min: 1, max: 120 }), header: fc.boolean() })
    .map(({ doc, from, length, header }): Excerpt => {
      const text = TEXTS[doc] ?? '';
      const start = Math.min(from, text.length - 1);
      const end = Math.min(text.length, start + length);
      const prefix = header ? 'name | price\n' : '';
      return {
        doc_id: `inbox/${doc}.md`,
        revision: 'r',
        title: `Title ${doc}`,
        source: 'inbox',
        text: prefix + text.slice(start, end),
        citation: { start, end, heading_path: [], ...(header ? { prefix } : {}) },
        document: { start: 0, end: text.length, pages: [] },
      };
    }),
  { maxLength: 12 },
);

const options = { tokenizer, render: (excerpt: Excerpt, n: number) => renderExcerpt(excerpt, n, false) };

describe('buildContext', () => {
  it('gives excerpts whose text is exactly that of their span, none of which overlap', () => {
    fc.assert(
      fc.property(excerpts, fc.integer({ min: 2, max: 200 }), fc.constantFrom('score', 'edges'), (ranked, maxTokens, order) => {
        const built = buildContext(ranked, { ...options, maxTokens, order });
        for (const { doc_id, text, citation } of built.excerpts) {
          const source = TEXTS[Number(doc_id.charAt(6))] ?? '';
          expect(text).toBe((citation.prefix ?? '') + source.slice(citation.start, citation.end));
        }
        for (const [at, one] of built.excerpts.entries()) {
          for (const other of built.excerpts.slice(at + 1)) {
            const apart = one.citation.end < other.citation.start || other.citation.end < one.citation.start;
            expect(apart || one.doc_id !== other.doc_id).toBe(true);
          }
        }
      }),
    );
  });

  it('counts what it gives, within the budget, and uses the budget for the best passage', () => {
    fc.assert(
      fc.property(excerpts, fc.integer({ min: 2, max: 200 }), (ranked, maxTokens) => {
        const { context, tokens, excerpts: taken } = buildContext(ranked, { ...options, maxTokens, order: 'score' });
        expect(tokens).toBe(tokenizer.count(context));
        expect(tokens).toBeLessThanOrEqual(maxTokens);
        const [best] = ranked;
        if (best !== undefined && maxTokens >= 30) expect(taken.some(({ doc_id }) => doc_id === best.doc_id)).toBe(true);
      }),
    );
  });

  it('with budget enough holds every passage that was given', () => {
    fc.assert(
      fc.property(excerpts, (ranked) => {
        const { excerpts: taken, omitted } = buildContext(ranked, { ...options, maxTokens: 100_000, order: 'score' });
        expect(omitted).toBe(0);
        for (const { doc_id, citation } of ranked) {
          const holds = (one: Excerpt) =>
            one.doc_id === doc_id && one.citation.start <= citation.start && one.citation.end >= citation.end;
          expect(taken.some(holds)).toBe(true);
        }
      }),
    );
  });
});
