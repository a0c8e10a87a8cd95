/**
 * Sections of sluice.yaml whose feature this version does not have, with what it would do. Their schema is known already: a feature that
 * lands takes its line out here, and nothing else changes.
 */
export const UNBUILT_SECTIONS: Readonly<Record<string, string>> = {
  eval: 'evaluation',
};
