/** Every rule of the protocol that can be left out, and what is done then. */
export const RULES = {
  clocksInFence: 'the fence counts on from the counter alone, so it begins at 1 after a flush',
  baseAfterFence: 'the base is read before the fence is taken',
  floorRetakesBase: 'a base above the fence raises the fence, but is not read again',
  keepFromBaseOnly: 'a chunk of the same text is kept from whatever is stored',
  supersededAccumulates: 'a commit lists only what it supersedes itself',
  rereadBeforeCommit: 'the commits are not read again before the commit',
  commitApart: 'the commit goes into one batch with the chunks and is visible before they are',
  recheckDisk: 'the disk is not looked at after the commit',
  recheckBetween: 'commits between base and own are not looked for after the commit',
  failureNamesBase: 'the commit of a failure names nothing',
  failureAppliesAccess: 'the commit of a failure has the access of the base',
  failureTellsOwnBytes: 'the commit of a failure describes the file as it is then, not of the bytes that failed',
  topBeforeCounter: 'the sweep reads the counter before the top commit',
  counterHolds: 'the sweep does not look at the counter',
  runIdCompared: 'the counter of another run of the server holds too',
  bornBefore: 'the sweep also deletes what was born after the top commit’s fence',
  grace: 'the sweep deletes at once',
  searchWithinGrace: 'a search of the store may last longer than the grace before the reader has read a commit',
  rereadBeforeDelete: 'the sweep does not read the top commit again before it deletes',
  orphansAbove: 'the sweep takes no notice of objects born above the top commit’s fence',
  betweenStays: 'the sweep also deletes commits between the top’s base and the top',
  tombstoneLast: 'a tombstone is deleted while other objects of its document are left',
  tombstoneOutlivesSleepers: 'a tombstone is deleted while an attempt older than it sleeps',
  visibilityCheck: 'the reader returns what it found',
  pinnedRetry: 'the reader never searches again',
  ageRule: 'the reader believes a commit that landed during its search',
  betweenClearance: 'the reader needs clearance for the top commit only',
} as const;

export type Rule = keyof typeof RULES;
export type Rules = Readonly<Record<Rule, boolean>>;

export const ALL_RULES = Object.fromEntries(Object.keys(RULES).map((rule) => [rule, true])) as Rules;

export function without(...left: Rule[]): Rules {
  return { ...ALL_RULES, ...Object.fromEntries(left.map((rule) => [rule, false])) };
}
