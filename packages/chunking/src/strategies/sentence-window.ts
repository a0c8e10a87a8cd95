import type { Layout } from '../layout/context.js';
import { finishPiece } from '../layout/finish.js';
import { cutToSize, type Unit, unitsOf } from '../layout/units.js';
import type { ChunkingStrategy } from './strategy.js';

/** Each sentence is embedded by itself; a query returns it with k sentences each side, as they stand in the text. The document's ends end the window. */
export const sentenceWindow: ChunkingStrategy<'sentence-window'> = {
  version: 1,
  cut: (layout, settings) => ({ chunks: cutSentences(layout, settings.window) }),
};

function* cutSentences(layout: Layout, k: number) {
  const { text } = layout.outline;
  // What lies within k units of the current one.
  const near: Unit[] = [];
  let index = 0;
  let first = 0;
  const units = unitsOf(layout);
  let done = false;
  for (;;) {
    while (!done && first + near.length <= index + k) {
      const next = units.next();
      if (next.done === true) done = true;
      else near.push(next.value);
    }
    const unit = near[index - first];
    if (unit === undefined) return;
    const windowStart = near[0]?.start ?? unit.start;
    const windowEnd = near.at(-1)?.end ?? unit.end;
    const extra = {
      window: text.slice(windowStart, windowEnd),
      windowStart,
      windowEnd,
      originalSentence: text.slice(unit.start, unit.end),
      sentenceIndex: index,
    };
    for (const part of cutToSize(layout, unit)) yield* finishPiece(layout, { ...part, extra });
    index++;
    if (index - first > k) {
      near.shift();
      first++;
    }
  }
}
