import { cutPlain, cutSections, finishAll } from './recursive.js';
import type { ChunkingStrategy } from './strategy.js';

/**
 * By kind of element: prose is packed by paragraphs under its heading; a table stands by itself, embedded in plain words; lists and code
 * are whole where they fit; definitions of code and values of JSON stand by themselves, under the names that enclose them.
 */
export const auto: ChunkingStrategy<'auto'> = {
  version: 1,
  cut(layout, settings) {
    return { chunks: finishAll(layout, settings.structure ? cutSections(layout, { plain: true }) : cutPlain(layout)) };
  },
};
