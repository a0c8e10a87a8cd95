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
