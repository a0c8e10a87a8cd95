import { type Caller, type SecurityLevel, SluiceError } from '@sluice/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AccessInput,
  accessFilter,
  accessLevelNames,
  mayAccess,
  mayReach,
  narrowAccess,
  resolveAccess,
  seesAll,
} from './access.js';
import { evaluateFilter, filterableValues } from './filter-evaluator.js';

const schema = { defaultSecurityLevel: 5 as SecurityLevel, accessLevels: accessLevelNames({ board: 4 }) };

function access(given: Partial<AccessInput>) {
  const { origins: _origins, ...rest } = resolveAccess({ schema, ...given });
  return rest;
}

function fault(given: Partial<AccessInput>): unknown {
  try {
    return resolveAccess({ schema, ...given });
  } catch (thrown) {
    return thrown;
  }
}

describe('a name that looks like a field of access', () => {
  it.each([
    ...[
      'Security_Level',
      'security-level',
      'securityLevel',
      'SECURITY LEVEL',
      'security.level',
      'securitylevel',
      'security_levels',
    ],
    ...['secuirty_level', 'securty_level', 'acess_level', 'Access-Level', 'accesslevels', 'allowed-groups', 'allowed_group'],
    ...['AllowedGroups', 'alowed_groups', 'clearance', 'Clearance', 'security clearance', 'ｓｅｃｕｒｉｔｙ＿ｌｅｖｅｌ'],
  ])('%s is an error that hides, in front matter and sidecar', (name) => {
    for (const origin of ['frontMatter', 'sidecar'] as const) {
      expect(fault({ [origin]: { [name]: 1 } })).toMatchObject({
        code: 'invalid_metadata',
        details: { field: name, access: true },
      });
    }
  });

  it.each([
    'security',
    'level',
    'access',
    'groups',
    'success_level',
    'title',
    'access_log',
    'security_team',
    'group',
    'x'.repeat(70),
  ])('%s is none', (name) => {
    expect(access({ frontMatter: { [name]: 1 } })).toEqual({ security_level: 5 });
  });

  it.each([
    ['in a mapping', { access: { security_level: 5 } }],
    ['in a mapping of mappings', { sluice: { access: { 'Allowed-Groups': ['board'] } } }],
    ['in a list', { metadata: [{ title: 'x' }, { access_level: 'secret' }] }],
  ])('nested %s is an error that hides', (_name, frontMatter) => {
    for (const origin of ['frontMatter', 'sidecar'] as const)
      expect(fault({ [origin]: frontMatter })).toMatchObject({ code: 'invalid_metadata', details: { access: true } });
  });

  it('is a field where the source declares it', () => {
    expect(access({ frontMatter: { clearance: 'yes' }, fields: { clearance: 'text' } })).toEqual({ security_level: 5 });
  });
});

describe('resolveAccess', () => {
  it('takes the level of the first rule that speaks, else of the source, else the default', () => {
    expect(access({})).toEqual({ security_level: 5 });
    expect(access({ sourceMetadata: { security_level: 2 } })).toEqual({ security_level: 2 });
    const matchingRules = [
      { match: ['a'], metadata: { category: 'x' } },
      { match: ['b'], metadata: { security_level: 1 } },
      { match: ['c'], metadata: { security_level: 3 } },
    ];
    expect(access({ sourceMetadata: { security_level: 2 }, matchingRules })).toEqual({ security_level: 1 });
  });

  it('takes names, numbers and numbers written as text', () => {
    for (const [said, level] of [
      ['internal', 2],
      ['Secret', 5],
      ['board', 4],
      [3, 3],
      ['3', 3],
    ] as const) {
      expect(access({ sourceMetadata: { access_level: said } })).toEqual({ security_level: level });
    }
    expect(access({ sourceMetadata: { security_level: 2, access_level: 'confidential' } })).toEqual({ security_level: 3 });
  });

  it('lets a file narrow and never widen', () => {
    const sourceMetadata = { security_level: 3, allowed_groups: ['b', 'a', 'c'] };
    expect(access({ sourceMetadata, frontMatter: { security_level: 1 } })).toEqual({
      security_level: 3,
      allowed_groups: ['a', 'b', 'c'],
    });
    expect(access({ sourceMetadata, frontMatter: { security_level: 4, allowed_groups: 'c, d' } })).toEqual({
      security_level: 4,
      allowed_groups: ['c'],
    });
    expect(
      access({
        sourceMetadata,
        frontMatter: { allowed_groups: ['a', 'b'] },
        sidecar: { security_level: 5, allowed_groups: ['b', 'c'] },
      }),
    ).toEqual({ security_level: 5, allowed_groups: ['b'] });
    expect(access({ sourceMetadata: { security_level: 1 }, sidecar: { allowed_groups: [] } })).toEqual({
      security_level: 1,
      allowed_groups: [],
    });
    expect(access({ sourceMetadata, frontMatter: { allowed_groups: ['x'] } })).toEqual({ security_level: 3, allowed_groups: [] });
  });

  it('tells who decided', () => {
    const { origins } = resolveAccess({
      schema,
      sourceMetadata: { security_level: 2 },
      frontMatter: { security_level: 3, allowed_groups: ['a'] },
      sidecar: { security_level: 1 },
    });
    expect(origins).toEqual({ security_level: 'front matter', allowed_groups: 'front matter' });
  });

  it.each([
    { security_level: 0 },
    { security_level: 9 },
    { security_level: 2.5 },
    { security_level: null },
    { security_level: 'top' },
    { security_level: [1] },
    { security_level: true },
    { access_level: null },
    { allowed_groups: null },
    { allowed_groups: { a: 1 } },
    { allowed_groups: [['a']] },
    { allowed_groups: true },
  ])('G07: %j is invalid and says that access is concerned', (said) => {
    for (const layer of ['frontMatter', 'sidecar'] as const) {
      const thrown = fault({ [layer]: said, sourceMetadata: { security_level: 1 } });
      expect(thrown).toBeInstanceOf(SluiceError);
      expect(thrown).toMatchObject({ code: 'invalid_metadata', details: { field: Object.keys(said)[0], access: true } });
    }
  });

  it('never falls below what the configuration set, whatever a file says', () => {
    const anyLevel = fc.integer({ min: 1, max: 5 });
    const anyGroups = fc.option(fc.subarray(['a', 'b', 'c']), { nil: undefined });
    const layer = fc.record({ security_level: anyLevel, allowed_groups: anyGroups }, { requiredKeys: [] });
    fc.assert(
      fc.property(layer, layer, layer, (source, frontMatter, sidecar) => {
        const clean = (said: Record<string, unknown>) =>
          Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
        const configured = access({ sourceMetadata: clean(source) });
        const resolved = access({ sourceMetadata: clean(source), frontMatter: clean(frontMatter), sidecar: clean(sidecar) });
        for (const caller of callers()) {
          if (mayAccess(caller, resolved)) expect(mayAccess(caller, configured)).toBe(true);
        }
      }),
    );
  });
});

function callers(): Caller[] {
  const levels: SecurityLevel[] = [1, 2, 3, 4, 5];
  return levels.flatMap((clearance) =>
    (['reader', 'operator'] as const).flatMap((role) =>
      [[], ['a'], ['b', 'c']].map((groups) => ({ role, clearance, groups, name: 'k' })),
    ),
  );
}

describe('narrowAccess', () => {
  it('lets through exactly those who pass both', () => {
    const anyAccess = fc
      .tuple(fc.constantFrom<SecurityLevel>(1, 2, 3, 4, 5), fc.option(fc.subarray(['a', 'b', 'c']), { nil: undefined }))
      .map(([security_level, allowed_groups]) => ({
        security_level,
        ...(allowed_groups === undefined ? {} : { allowed_groups }),
      }));
    // One group each: who holds two may pass one list by the first and the other by the second.
    const single = callers().filter(({ groups }) => groups.length < 2);
    fc.assert(
      fc.property(anyAccess, anyAccess, (a, b) => {
        for (const caller of single) {
          expect(mayAccess(caller, narrowAccess(a, b))).toBe(mayAccess(caller, a) && mayAccess(caller, b));
        }
      }),
    );
  });
});

describe('accessFilter and mayAccess', () => {
  const about = { doc_id: 's/a', source: 's', source_path: 'a', kind: 'text' };

  it('agree for every caller and every document', () => {
    let permitted = 0;
    let refused = 0;
    const groupLists: (string[] | undefined)[] = [undefined, [], ['a'], ['b'], ['a', 'c'], ['x']];
    for (const caller of callers()) {
      for (const level of [1, 2, 3, 4, 5] as const) {
        for (const groups of groupLists) {
          const metadata = {
            doc_type: 'document',
            tags: [],
            security_level: level,
            ...(groups === undefined ? {} : { allowed_groups: groups }),
            fields: {},
          };
          const visible = evaluateFilter(accessFilter(caller), filterableValues(metadata, about));
          expect(visible).toBe(mayAccess(caller, metadata));
          if (visible) permitted += 1;
          else refused += 1;
        }
      }
    }
    expect(permitted).toBeGreaterThan(100);
    expect(refused).toBeGreaterThan(100);
  });

  it('G03: a caller without groups sees no document of a group, and [] is seen by clearance 5 operators alone', () => {
    const reader: Caller = { role: 'reader', clearance: 5, groups: [], name: 'r' };
    expect(mayAccess(reader, { security_level: 1, allowed_groups: ['a'] })).toBe(false);
    expect(mayAccess(reader, { security_level: 1, allowed_groups: [] })).toBe(false);
    expect(mayAccess(reader, { security_level: 1 })).toBe(true);
    const operator = (clearance: SecurityLevel): Caller => ({ role: 'operator', clearance, groups: ['a'], name: 'o' });
    expect(mayAccess(operator(4), { security_level: 1, allowed_groups: [] })).toBe(false);
    expect(mayAccess(operator(5), { security_level: 5, allowed_groups: [] })).toBe(true);
  });

  it('agree on callers that are limited to sources', () => {
    const metadata = { doc_type: 'document', tags: [], security_level: 1 as const, fields: {} };
    for (const sources of [undefined, [], ['s'], ['t'], ['t', 's']]) {
      const caller: Caller = {
        ...{ role: 'operator', clearance: 5, groups: [], name: 'o' },
        ...(sources === undefined ? {} : { sources }),
      };
      const visible = evaluateFilter(accessFilter(caller), filterableValues(metadata, about));
      expect(visible).toBe(mayReach(caller, 's') && mayAccess(caller, metadata));
      expect(seesAll(caller)).toBe(sources === undefined);
    }
  });

  it('groups are equal after normalisation', () => {
    const caller: Caller = { role: 'reader', clearance: 1, groups: ['caf\u0065\u0301'], name: 'r' };
    const document = access({ sourceMetadata: { security_level: 1, allowed_groups: ['caf\u00e9'] } });
    expect(mayAccess(caller, document)).toBe(true);
  });

  it('refuse when a level is no number', () => {
    const caller: Caller = { role: 'operator', clearance: 5, groups: [], name: 'o' };
    expect(mayAccess(caller, { security_level: Number.NaN as SecurityLevel })).toBe(false);
    expect(evaluateFilter(accessFilter(caller), {})).toBe(false);
  });
});
