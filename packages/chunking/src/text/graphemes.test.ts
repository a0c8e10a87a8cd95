import fc from 'fast-check';
import { expect, it } from 'vitest';
import { edgeAfter, edgeBefore, isGraphemeEdge } from './graphemes.js';

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

function expectEdges(text: string): void {
  const edges = new Set([0, text.length, ...[...segmenter.segment(text)].map((segment) => segment.index)]);
  for (let at = 0; at <= text.length; at++) {
    expect(isGraphemeEdge(text, at), `${JSON.stringify(text)} at ${at}`).toBe(edges.has(at));
    const before = edgeBefore(text, at);
    const after = edgeAfter(text, at);
    expect(edges.has(before) && before <= at && edges.has(after) && after >= at).toBe(true);
  }
}

it('knows the edges of graphemes in any text', () => {
  const tricky = fc.constantFrom(
    ...'aé中かー각각가กำ็ا؀ߵक्षि\u200d\u0301\ufe0f\u3099©☕♥〰㊗👩🇨🇿🏽 \n\r\t\u00ad\u200b\u2028\u0600\u06dd\u1cf5\u17d2ខ្មែရ်',
    '👩‍👩‍👧',
    '🇩🇪🇫🇷',
    '\ud83d',
    '\ude00',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(tricky, fc.string({ unit: 'binary', maxLength: 2 })), { maxLength: 24 }), (parts) => {
      expectEdges(parts.join(''));
    }),
    { numRuns: 3_000 },
  );
});

it('is sure of every pair of common letters that the runtime is', () => {
  const common = [...'aZ9.é\u0301Яαאبก็ำ，「中かガ한‘—（'];
  for (const before of common) for (const after of common) for (const last of common) expectEdges(before + after + last);
});
