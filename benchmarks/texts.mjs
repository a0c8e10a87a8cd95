/** Small seeded generator (mulberry32: a public-domain 32-bit mixer), so that every run measures the same texts. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const WORDS = (
  'the of and to in is that for with as on by this from are which be at an or model data results system method study paper water energy field ' +
  'cell surface structure measure analysis large small temperature pressure rate high low time number group function network signal light wave ' +
  'protein gene carbon metal current magnetic optical thermal linear local global random optimal dynamic effect process problem solution ' +
  'approach evidence increase decrease observe propose report describe compare estimate predict control design develop apply show find use ' +
  'between under over during within after before through several recent different common complex simple important strong weak new first second'
).split(' ');

/** One sentence of 9 to 17 words. */
export function sentence(random) {
  const words = Array.from({ length: 9 + Math.floor(random() * 9) }, () => WORDS[Math.floor(random() * WORDS.length)]);
  return `${words[0][0].toUpperCase()}${words[0].slice(1)} ${words.slice(1).join(' ')}.`;
}

/** A paragraph of about `characters` characters. */
export function paragraph(random, characters = 690) {
  let text = sentence(random);
  while (text.length < characters - 40) text += ` ${sentence(random)}`;
  return text;
}

/**
 * Texts of made-up words whose frequencies fall as those of a language do (Zipf's law: the n-th commonest 1/n as often as the first), after a
 * handful of real function words.
 *
 * @returns a function that gives a text of so many words
 */
export function zipfWords(random, size) {
  const syllables = [
    'ka',
    'lo',
    'mer',
    'ti',
    'sun',
    'var',
    'en',
    'do',
    'pel',
    'ris',
    'qua',
    'to',
    'bin',
    'gra',
    'sho',
    'ul',
    'fen',
    'my',
    'zer',
    'ach',
  ];
  const words = ['the', 'of', 'and', 'to', 'in', 'is', 'that', 'for', 'with', 'as'];
  const seen = new Set(words);
  while (words.length < size) {
    const word = Array.from(
      { length: 2 + Math.floor(random() * 3) },
      () => syllables[Math.floor(random() * syllables.length)],
    ).join('');
    if (!seen.has(word)) words.push(word);
    seen.add(word);
  }
  const sums = [];
  words.reduce((sum, _, n) => (sums[n] = sum + 1 / (n + 1)), 0);
  const one = () => {
    const wanted = random() * sums.at(-1);
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return words[low];
  };
  return (count) => Array.from({ length: count }, one).join(' ');
}
