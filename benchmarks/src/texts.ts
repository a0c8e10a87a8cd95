/** A small seeded generator (mulberry32, a public-domain 32-bit mixer): every run measures the same texts. */
export function seeded(seed: number): () => number {
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
function sentence(random: () => number): string {
  const words = Array.from({ length: 9 + Math.floor(random() * 9) }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** A paragraph of about `characters` characters. */
export function paragraph(random: () => number, characters = 690): string {
  let text = sentence(random);
  while (text.length < characters - 40) text += ` ${sentence(random)}`;
  return text;
}

/**
 * Texts of invented words after ten function words. Their frequencies follow Zipf's law: the n-th word is 1/n as frequent as the first.
 *
 * @returns a function that makes a text of the given number of words
 */
export function zipfWords(random: () => number, size: number): (count: number) => string {
  const syllables = 'ka lo mer ti sun var en do pel ris qua to bin gra sho ul fen my zer ach'.split(' ');
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
  let sum = 0;
  const sums = words.map((_, n) => {
    sum += 1 / (n + 1);
    return sum;
  });
  const one = () => {
    const wanted = random() * sum;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return words[low];
  };
  return (count) => Array.from({ length: count }, one).join(' ');
}

/** Texts of one chunk each, always the same for a seed. */
export function abstracts(seed: number, count: number): string[] {
  const random = seeded(seed);
  return Array.from({ length: count }, () => paragraph(random));
}

/** Texts of so many paragraphs, about as many chunks. */
export function longTexts(seed: number, count: number, paragraphs: number): string[] {
  return Array.from({ length: count }, (_, n) => abstracts(seed * 1_000_003 + n, paragraphs).join('\n\n'));
}
