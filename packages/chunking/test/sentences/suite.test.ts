import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createSentenceSplitter } from '../../src/text/sentences.js';

interface Case {
  lang: string;
  text: string;
  /** Where its sentences end. */
  ends: number[];
}

const suite: Case[] = readFileSync(new URL('./suite.txt', import.meta.url), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, lang, source] = /^([a-z]{2}): (.*)$/.exec(line) ?? [];
    if (lang === undefined || source === undefined) return [];
    const spaced = source.includes(' | ');
    const sentences = source.split(spaced ? ' | ' : '|');
    let at = 0;
    const ends = sentences.map((sentence, index) => {
      at += sentence.length + (index > 0 && spaced ? 1 : 0);
      return at;
    });
    return [{ lang, text: sentences.join(spaced ? ' ' : ''), ends }];
  });

/** Sentence ends that were missed, and ends that are none. */
function faultsOf({ text, ends }: Case, lang: string | undefined): { merges: number; cuts: number } {
  const found = [...createSentenceSplitter().split(text, 0, text.length, lang)].map((span) => span.end);
  return {
    merges: ends.filter((end) => !found.includes(end)).length,
    cuts: found.filter((end) => !ends.includes(end)).length,
  };
}

it('has cases enough', () => {
  expect(suite.length).toBeGreaterThanOrEqual(200);
  expect(new Set(suite.map(({ lang }) => lang)).size).toBeGreaterThanOrEqual(10);
});

/** A name that ends with a full stop of its own. */
const KNOWN_FAULTS = ['モーニング娘。は歌手です。人気があります。'];

it.each(suite.filter(({ text }) => !KNOWN_FAULTS.includes(text)))('$lang: $text', (one) => {
  expect(faultsOf(one, one.lang)).toEqual({ merges: 0, cuts: 0 });
});

it('cuts wrong in one text of ten at most, and merges in one of a hundred, where the language is not known', () => {
  const faults = suite.map((one) => faultsOf(one, undefined));
  expect(faults.filter(({ cuts }) => cuts > 0).length).toBeLessThan(suite.length / 10);
  expect(faults.filter(({ merges }) => merges > 0).length).toBeLessThan(suite.length / 100);
});
