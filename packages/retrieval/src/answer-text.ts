import { NOT_FOUND_MARK } from './prompt.js';

const THOUGHT = { start: '<think>', end: '</think>' };

/**
 * The part of a model's output that is its answer, as it comes: without what a reasoning model thinks aloud first, and nothing at all
 * when it says that the sources do not hold the answer. The beginning is held back until it can be neither.
 */
export function createAnswerText() {
  let held = '';
  let state: 'beginning' | 'answer' | 'silent' = 'beginning';

  /** What can be shown of the beginning; '' while that is not known. */
  function decide(ended: boolean): string {
    const thought = held.trimStart().startsWith(THOUGHT.start) ? held.indexOf(THOUGHT.end) : -1;
    if (thought >= 0) held = held.slice(thought + THOUGHT.end.length);
    const begun = held.trimStart();
    const thinking = thought < 0 && begun.startsWith(THOUGHT.start);
    const open = [THOUGHT.start, NOT_FOUND_MARK].some((mark) => mark.startsWith(begun));
    if (begun.startsWith(NOT_FOUND_MARK)) state = 'silent';
    else if (ended || !(thinking || open)) state = 'answer';
    if (state !== 'answer' || thinking) return '';
    held = '';
    return begun;
  }

  return {
    /** Text that may be shown now. */
    add(text: string): string {
      if (state === 'silent') return '';
      if (state === 'answer') return text;
      held += text;
      return decide(false);
    },
    /** What was held back, once the output has ended. */
    end: (): string => (state === 'beginning' ? decide(true) : ''),
  };
}
