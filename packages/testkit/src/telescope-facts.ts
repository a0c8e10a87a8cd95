/** A passage, five facts that it bears out, and one that it does not: what a language model may answer. */
export const TELESCOPE = {
  passage:
    'The Webb telescope was launched on 25 December 2021 from Kourou. It orbits the Sun near L2, 1.5 million kilometres from Earth. Its sunshield has five layers, which keep the instruments below 50 kelvin.',
  trueFacts: [
    'The Webb telescope was launched on 25 December 2021.',
    'The Webb telescope was launched from Kourou.',
    'The Webb telescope orbits the Sun near L2.',
    'The sunshield of the Webb telescope has 5 layers.',
    'The sunshield keeps the instruments of the Webb telescope below 50 kelvin.',
  ],
  falseFact: 'The Webb telescope was built by Roscosmos in 1999.',
} as const;
