import { type Caller, type Filter, type SecurityLevel, SluiceError } from '@sluice/core';
import { coerceInt, coerceList, normalText } from './coercion.js';
import { ACCESS_RESTRICTED_FIELD } from './fields.js';
import { configuredLayers, fileLayers, type Layer, type MetadataInput, type Origin, ownValue } from './layers.js';

/** The fields that decide who may see a document. */
export const ACCESS_NAMES: ReadonlySet<string> = new Set(['security_level', 'access_level', 'allowed_groups']);

/** Names of the levels where the configuration gives none. */
const DEFAULT_ACCESS_LEVELS: Readonly<Record<string, SecurityLevel>> = {
  public: 1,
  internal: 2,
  confidential: 3,
  restricted: 4,
  secret: 5,
};

/** The default names with those of the configuration; a configured name wins over an equal default one. */
export function accessLevelNames(configured: Readonly<Record<string, SecurityLevel>> = {}): Record<string, SecurityLevel> {
  return { ...DEFAULT_ACCESS_LEVELS, ...configured };
}

/** Level and groups of a document. `allowed_groups` absent: clearance alone decides; `[]`: nobody but operators of clearance 5. */
export interface DocumentAccess {
  security_level: SecurityLevel;
  /** Sorted, without doubles. */
  allowed_groups?: string[];
}

export type AccessInput = Pick<MetadataInput, 'schema' | 'sourceMetadata' | 'matchingRules' | 'frontMatter' | 'sidecar'> &
  Partial<Pick<MetadataInput, 'fields'>>;

/**
 * Who may see a document. The configuration sets: the first rule that speaks, else the source, else the default. Front matter and sidecar
 * may only narrow: the highest level of all, the intersection of all group lists.
 *
 * @throws SluiceError `invalid_metadata` with `details.access: true` when a level or a group list is invalid, null included, or a file
 *   spells the name of an access field wrong: the last good revision is then to be hidden at level 5.
 */
export function resolveAccess(
  input: AccessInput,
): DocumentAccess & { origins: { security_level: Origin; allowed_groups?: Origin } } {
  const { schema } = input;
  let level: SecurityLevel = schema.defaultSecurityLevel;
  let levelOrigin: Origin = 'default';
  let groups: string[] | undefined;
  let groupsOrigin: Origin | undefined;

  // From the weakest voice to the strongest, so that the last one to speak stands.
  for (const layer of configuredLayers(input).reverse()) {
    const said = readAccess(layer, schema.accessLevels);
    if (said.level !== undefined) [level, levelOrigin] = [said.level, layer.origin];
    if (said.groups !== undefined) [groups, groupsOrigin] = [said.groups, layer.origin];
  }
  for (const layer of fileLayers(input)) {
    refuseNearMisses(layer, input.fields ?? {});
    const said = readAccess(layer, schema.accessLevels);
    if (said.level !== undefined && said.level > level) [level, levelOrigin] = [said.level, layer.origin];
    const narrowed = intersect(groups, said.groups);
    if (narrowed?.length !== groups?.length) groupsOrigin = layer.origin;
    groups = narrowed;
  }
  return {
    security_level: level,
    ...(groups === undefined ? {} : { allowed_groups: groups }),
    origins: { security_level: levelOrigin, ...(groupsOrigin === undefined ? {} : { allowed_groups: groupsOrigin }) },
  };
}

/**
 * The access that is as strict as both: the higher level, the groups that both allow. For content that must not become wider than it was,
 * as the last good revision of a document whose newest state failed.
 */
export function narrowAccess(a: DocumentAccess, b: DocumentAccess): DocumentAccess {
  const groups = intersect(a.allowed_groups, b.allowed_groups);
  const stricter = a.security_level > b.security_level ? a : b;
  return {
    security_level: stricter.security_level,
    ...(groups === undefined ? {} : { allowed_groups: groups }),
  };
}

/** No list allows everybody. */
function intersect(a: string[] | undefined, b: string[] | undefined): string[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.filter((group) => b.includes(group));
}

/** What one layer says of access; a level given both as number and by name counts as the higher. */
export function readAccess(
  layer: Layer,
  names: Readonly<Record<string, SecurityLevel>>,
): { level?: SecurityLevel; groups?: string[] } {
  const levels: SecurityLevel[] = [];
  for (const field of ['security_level', 'access_level']) {
    if (Object.hasOwn(layer.values, field)) levels.push(readLevel(field, ownValue(layer.values, field), names, layer.origin));
  }
  const level = levels.sort((a, b) => b - a)[0];
  const groups = Object.hasOwn(layer.values, 'allowed_groups')
    ? readGroups(ownValue(layer.values, 'allowed_groups'), layer.origin)
    : undefined;
  return { ...(level === undefined ? {} : { level }), ...(groups === undefined ? {} : { groups }) };
}

function readLevel(field: string, value: unknown, names: Readonly<Record<string, SecurityLevel>>, origin: Origin): SecurityLevel {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : undefined;
  if (word !== undefined && Object.hasOwn(names, word)) return names[word] ?? 5;
  const number = coerceInt(value);
  if (number.ok && isLevel(number.value)) return number.value;
  throw invalidAccess(field, value, `a level of 1 to 5 or one of ${Object.keys(names).join(', ')}`, origin);
}

function readGroups(value: unknown, origin: Origin): string[] {
  const groups = value === null || typeof value === 'boolean' ? undefined : coerceList(value);
  if (groups?.ok !== true) throw invalidAccess('allowed_groups', value, 'a list of group names ([] for nobody)', origin);
  return groups.value.sort();
}

function isLevel(value: number): value is SecurityLevel {
  return value === 1 || value === 2 || value === 3 || value === 4 || value === 5;
}

/** Names of access fields, without anything but letters. */
const PLAIN_NAMES = ['securitylevel', 'accesslevel', 'allowedgroups'];
/** Names that mean access and are no fields. */
const OTHER_NAMES = new Set([
  'clearance',
  'clearancelevel',
  'securityclearance',
  'seclevel',
  'securitylvl',
  'accesslvl',
  'accessgroups',
]);

/** Who wrote `Security-Level: 4` meant the document to be hidden from most: to pass over that would show it to them. */
function refuseNearMisses({ values, origin }: Layer, declared: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (ACCESS_NAMES.has(name) || Object.hasOwn(declared, name)) continue;
    const found = meansAccess(name) ? name : findNested(value);
    if (found === undefined) continue;
    const problem =
      found === name
        ? `looks like a field of access; the names are ${[...ACCESS_NAMES].join(', ')}`
        : `lies within ${shown(name)}; write ${[...ACCESS_NAMES].join(', ')} at the top, not nested`;
    throw new SluiceError('invalid_metadata', `${shown(found)} (${origin}) ${problem}`, {
      details: { field: found.slice(0, 80), origin, access: true },
    });
  }
}

/** Whether a name is that of a field of access, or likely meant as one. */
function meansAccess(name: string): boolean {
  // Far longer than a misspelt name; the comparison below takes time by its length.
  if (name.length > 60) return false;
  const plain = name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}]/gu, '');
  return OTHER_NAMES.has(plain) || PLAIN_NAMES.some((meant) => isNear(plain, meant));
}

/** The first name within a value that means access: who nests it means it all the same. The depth of values is bounded where they are read. */
function findNested(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = !Array.isArray(value) && meansAccess(name) ? name : findNested(member);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Equal, or one letter added, left out, replaced, or swapped with its neighbour. */
function isNear(text: string, meant: string): boolean {
  if (Math.abs(text.length - meant.length) > 1) return false;
  let start = 0;
  while (start < text.length && text[start] === meant[start]) start += 1;
  let end = 0;
  while (end < Math.min(text.length, meant.length) - start && text.at(-1 - end) === meant.at(-1 - end)) end += 1;
  const [left, right] = [text.slice(start, text.length - end), meant.slice(start, meant.length - end)];
  return left.length <= 1 && right.length <= 1 ? true : left.length === 2 && left === [...right].reverse().join('');
}

function invalidAccess(field: string, value: unknown, expected: string, origin: Origin): SluiceError {
  return new SluiceError('invalid_metadata', `${field} is ${shown(value)} (${origin}); expected ${expected}`, {
    details: { field, value: shown(value), origin, access: true },
  });
}

/** A value in an error message: short, on one line. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}

/**
 * Whether a caller may see a document: its clearance reaches the level, and, where groups were written out, it holds one of them.
 * Operators of clearance 5 pass every group list. The counterpart of {@link accessFilter} for one document at hand.
 */
export function mayAccess(
  caller: Caller,
  access: { security_level: SecurityLevel; allowed_groups?: readonly string[] | undefined },
): boolean {
  if (!(access.security_level <= caller.clearance)) return false;
  if (access.allowed_groups === undefined || passesGroups(caller)) return true;
  const held = new Set(caller.groups.map(normalText));
  return access.allowed_groups.some((group) => held.has(group));
}

/** Whether a caller may know of anything in a source. */
export function mayReach({ sources }: Pick<Caller, 'sources'>, source: string): boolean {
  return sources === undefined || sources.includes(source);
}

/**
 * The caller with the rights that it has in common with others: the lower clearance, the groups that both hold. Who passes every group
 * list passes those of the given groups.
 */
export function actFor(
  caller: Caller,
  { clearance, groups }: { clearance?: SecurityLevel | undefined; groups?: readonly string[] | undefined },
): Caller {
  const lower = clearance !== undefined && clearance < caller.clearance ? clearance : caller.clearance;
  if (groups === undefined) return { ...caller, clearance: lower };
  const held = new Set(caller.groups.map(normalText));
  const common = passesGroups(caller) ? groups : groups.filter((group) => held.has(normalText(group)));
  return { ...caller, role: 'reader', clearance: lower, groups: common };
}

/** The part of every query that no request can widen: AND it outermost. Made from the caller alone. */
export function accessFilter(caller: Caller): Filter {
  const access = levelAndGroups(caller);
  if (caller.sources === undefined) return access;
  // No clause for an empty list: some stores read `in []` as no condition at all. A level below 1 has no document.
  const within: Filter =
    caller.sources.length === 0
      ? { op: 'lte', field: 'security_level', value: 0 }
      : { op: 'in', field: 'source', values: [...new Set(caller.sources)].sort() };
  return { op: 'and', of: [within, access] };
}

function levelAndGroups(caller: Caller): Filter {
  const level: Filter = { op: 'lte', field: 'security_level', value: caller.clearance };
  if (passesGroups(caller)) return level;
  const open: Filter = { op: 'eq', field: ACCESS_RESTRICTED_FIELD, value: false };
  const groups = [...new Set(caller.groups.map(normalText))].sort();
  // No clause for an empty list: some stores read `in []` as no condition at all.
  const permitted: Filter =
    groups.length === 0 ? open : { op: 'or', of: [open, { op: 'in', field: 'allowed_groups', values: groups }] };
  return { op: 'and', of: [level, permitted] };
}

/** Operators of clearance 5 of all sources: nothing is hidden from them. */
export function seesAll(caller: Caller): boolean {
  return passesGroups(caller) && caller.sources === undefined;
}

/** Operators of clearance 5: they pass every group list. */
function passesGroups(caller: Caller): boolean {
  return caller.role === 'operator' && caller.clearance === 5;
}
