import { describe, expect, it } from 'vitest';
import {
  abortBuild,
  beginBuild,
  expire,
  followedGenerations,
  followingGenerations,
  type Generation,
  generationsSchema,
  rollBack,
  switchToNext,
} from './generations.js';

const generation = (name: string, queue = ''): Generation => ({ collection: `${name}-0123456789`, queue, model: name });
const wanted = (name: string) => ({ collection: `${name}-abcdefabcd`, model: name });
const begun = followedGenerations(undefined, generation('a'));
const names = (state: typeof begun) => followingGenerations(state).map(({ model }) => model);

describe('the generations of an instance', () => {
  it('begin with the configured model alone', () => {
    expect(begun).toEqual({ configured: 'a-0123456789', live: generation('a'), doomed: [] });
  });

  it('go from a build to a switch, back, and to the end of the earlier one', () => {
    const building = beginBuild(1000, begun, wanted('b'));
    expect(building).toMatchObject({ live: { model: 'a', queue: '' }, next: { model: 'b', queue: '-abcdefabcd', since: 1000 } });
    expect(beginBuild(2000, building, wanted('b'))).toBe(building);
    const switched = switchToNext(3000, building, 60_000);
    expect(switched).toMatchObject({ live: { model: 'b' }, previous: { model: 'a', until: 63_000 } });
    expect(names(switched)).toEqual(['b', 'a']);
    const back = rollBack(4000, switched, 60_000);
    expect(back).toMatchObject({
      live: { model: 'a', queue: '' },
      previous: { model: 'b', queue: '-abcdefabcd', until: 64_000 },
    });
    expect(expire(63_999, back)).toBe(back);
    const over = expire(64_000, back);
    expect(over).toMatchObject({ live: { model: 'a' }, doomed: [{ model: 'b', after: 94_000 }] });
    expect(over.previous).toBeUndefined();
    for (const state of [building, switched, back, over]) {
      expect(generationsSchema.parse(JSON.parse(JSON.stringify(state)))).toEqual(state);
    }
  });

  it('give up what a build has made when it is aborted', () => {
    const aborted = abortBuild(5000, beginBuild(1000, begun, wanted('b')));
    expect(names(aborted)).toEqual(['a']);
    expect(aborted.doomed).toMatchObject([{ model: 'b', queue: '-abcdefabcd', after: 35_000 }]);
    expect(() => beginBuild(6000, aborted, wanted('b'))).toThrow(/being removed/);
  });

  it('give up the one before the one before', () => {
    const switched = switchToNext(0, beginBuild(0, begun, wanted('b')), 60_000);
    const twice = switchToNext(1000, beginBuild(500, switched, wanted('c')), 60_000);
    expect(names(twice)).toEqual(['c', 'b']);
    expect(twice.doomed).toMatchObject([{ model: 'a' }]);
  });

  it.each([
    ['the live model again', () => beginBuild(0, begun, { collection: 'a-0123456789', model: 'a' }), /live model already/],
    ['two builds', () => beginBuild(0, beginBuild(0, begun, wanted('b')), wanted('c')), /--abort/],
    ['the one before', () => beginBuild(0, switchToNext(0, beginBuild(0, begun, wanted('b')), 1), generation('a')), /--rollback/],
    ['a switch to nothing', () => switchToNext(0, begun, 1), /No model is being built/],
    ['the end of nothing', () => abortBuild(0, begun), /No model is being built/],
    ['the way back to nothing', () => rollBack(0, begun, 1), /No earlier model/],
  ])('refuse %s', (_what, act, message) => {
    expect(act).toThrow(message);
  });

  it('are followed as long as the configuration names one of them; its settings are taken', () => {
    const switched = switchToNext(0, beginBuild(0, begun, wanted('b')), 60_000);
    expect(followedGenerations(switched, generation('a')).live.model).toBe('b');
    const named = followedGenerations(switched, { ...generation('b'), collection: 'b-abcdefabcd', queryPrefix: 'ask: ' });
    expect(named.live).toEqual({ model: 'b', collection: 'b-abcdefabcd', queue: '-abcdefabcd', queryPrefix: 'ask: ' });
    const dooming = expire(60_000, switched);
    expect(dooming.doomed).toHaveLength(1);
    expect(followedGenerations(dooming, generation('c'))).toEqual({
      configured: 'c-0123456789',
      live: generation('c'),
      doomed: [],
    });
  });
});
