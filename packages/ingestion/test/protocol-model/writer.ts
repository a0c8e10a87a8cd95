import {
  type Attempt,
  type Chunk,
  type Commit,
  type Counter,
  HIDDEN,
  levelOf,
  type State,
  type Step,
  sortLetters,
  topOf,
  versionAt,
  type World,
} from './state.js';

/** One reconcile begins with a look at disk and top commit that may show that nothing is to be done (reconcile.ts, findSettled). */
export function beginAttempt(state: State, recommit = false): State {
  const attempt: Attempt = { step: 'settle', disk: state.disk, fence: 0, attempt: -1, floor: 0, inserts: [] };
  return {
    ...state,
    due: false,
    left: { ...state.left, attempts: state.left.attempts - 1 },
    attempts: [...state.attempts, recommit ? { ...attempt, recommit } : attempt],
  };
}

/** The one next step of an attempt. */
export function stepAttempt(world: World, state: State, attempt: Attempt): Step {
  const { rules } = world;
  switch (attempt.step) {
    case 'settle':
      // The job of a file that the watcher saw for the first time compares disk and commits only after its fence (reconcile.ts, isNew).
      if (world.scenario.adds && !attempt.recommit) return go(state, attempt, { ...newRound(world, attempt), late: true });
      return isSettled(world, topOf(state.commits), attempt)
        ? finish(state, attempt, 'unchanged')
        : go(state, attempt, newRound(world, attempt));
    case 'early base':
      return go(state, attempt, { ...attempt, step: 'fence', base: topOf(state.commits) });
    case 'fence':
      return takeFence(world, state, attempt);
    case 'base': {
      const base = topOf(state.commits);
      if (base === undefined || base.fence < attempt.fence) return go(state, attempt, { ...attempt, step: 'disk', base });
      const raised = go(state, attempt, {
        ...attempt,
        step: 'fence',
        floor: base.fence,
        ...(rules.floorRetakesBase ? {} : { base }),
      });
      return { ...raised, label: `${raised.label}, above the fence` };
    }
    case 'disk':
      return plan(world, state, attempt);
    case 'insert': {
      const [chunk, ...inserts] = attempt.inserts;
      if (chunk === undefined) throw new Error('nothing to insert');
      const next = inserts.length > 0 ? 'insert' : rules.commitApart ? 'reread' : 'recheck disk';
      const chunks = [...state.chunks, chunk].sort((a, b) => a.id - b.id);
      return go({ ...state, chunks }, attempt, { ...attempt, inserts, step: next });
    }
    case 'reread': {
      if (rules.rereadBeforeCommit && topOf(state.commits)?.attempt !== attempt.base?.attempt)
        return again(world, state, attempt);
      return go(state, attempt, { ...attempt, step: 'commit' });
    }
    case 'commit':
      return commit(state, attempt);
    case 'recheck disk':
      if (rules.recheckDisk && state.disk !== attempt.disk) return again(world, state, attempt);
      return go(state, attempt, { ...attempt, step: 'recheck commits' });
    case 'recheck commits': {
      const { record } = attempt;
      const isBetween = (other: Commit) => record !== undefined && other.fence > record.base && other.fence < record.fence;
      if (attempt.raises || (rules.recheckBetween && state.commits.some(isBetween))) return again(world, state, attempt);
      return finish(state, attempt, 'done');
    }
  }
}

/** What is left when an attempt dies: the job is due again. */
export function crash(state: State, attempt: Attempt): State {
  return { ...drop(state, attempt), due: true, left: { ...state.left, crashes: state.left.crashes - 1 } };
}

function go(state: State, old: Attempt, next: Attempt): Step {
  return {
    label: `${nameOf(old)}: ${old.step}`,
    state: { ...state, attempts: state.attempts.map((one) => (one === old ? next : one)) },
  };
}

function finish(state: State, attempt: Attempt, how: string): Step {
  return { label: `${nameOf(attempt)}: ${attempt.step}, ${how}`, state: drop(state, attempt) };
}

function drop(state: State, attempt: Attempt): State {
  return { ...state, attempts: state.attempts.filter((one) => one !== attempt) };
}

export function nameOf({ attempt, fence }: Attempt): string {
  if (attempt < 0) return 'new attempt';
  return fence === 0 ? `attempt after ${attempt}` : `attempt ${attempt} (fence ${fence})`;
}

/** Another round with a fence of its own. */
function again(world: World, state: State, attempt: Attempt): Step {
  const step = go(state, attempt, newRound(world, attempt));
  return { ...step, label: `${step.label}, again` };
}

/** After too many rounds the job goes back to the queue. */
function giveUp(state: State, attempt: Attempt): Step {
  const step = finish(state, attempt, 'gives up');
  return { ...step, state: { ...step.state, due: true } };
}

function newRound({ rules }: World, attempt: Attempt): Attempt {
  const { disk, failed, recommit } = attempt;
  return {
    step: rules.baseAfterFence ? 'fence' : 'early base',
    disk,
    fence: 0,
    attempt: attempt.attempt,
    floor: 0,
    inserts: [],
    ...(failed === undefined ? {} : { failed }),
    ...(recommit ? { recommit } : {}),
  };
}

function isSettled(world: World, top: Commit | undefined, { disk, recommit }: Pick<Attempt, 'disk' | 'recommit'>): boolean {
  const version = versionAt(world, disk);
  if (version.text === undefined) return !recommit && (top === undefined || top.status === 'deleted');
  if (recommit || top === undefined || top.status === 'deleted') return false;
  if (top.stat === disk) return true;
  // The same bytes under another stat.
  return top.status === 'indexed' && top.stat >= 0 && isSameVersion(world, top.stat, disk);
}

function isSameVersion(world: World, a: number, b: number): boolean {
  return JSON.stringify(versionAt(world, a)) === JSON.stringify(versionAt(world, b));
}

/** One Lua call: above the counter, the clocks and the floor. */
export function raiseFence({ rules }: World, state: State, floor: number): State & { counter: Counter } {
  const fence = Math.max(state.counter?.fence ?? 0, rules.clocksInFence ? state.clock : 0, floor) + 1;
  const counter = { fence, attempt: state.taken, run: state.run };
  const past = state.counter !== undefined && state.left.rollbacks > 0 ? [...state.past, state.counter] : state.past;
  return { ...state, counter, past, clock: state.clock + 1, taken: state.taken + 1 };
}

function takeFence(world: World, state: State, attempt: Attempt): Step {
  if (state.left.fences === 0) return giveUp(state, attempt);
  const raised = raiseFence(world, state, attempt.floor);
  const { counter } = raised;
  // Only where a rule is left out is there a base already.
  const hasBase = attempt.base !== undefined || !world.rules.baseAfterFence;
  const next: Attempt = { ...attempt, fence: counter.fence, attempt: counter.attempt, step: hasBase ? 'disk' : 'base' };
  const taken = go({ ...raised, left: { ...state.left, fences: state.left.fences - 1 } }, attempt, next);
  return { ...taken, label: `${nameOf(next)}: fence` };
}

/** Looks at the disk and decides what to write (reconcile.ts writeFile and deleteDocument, write-document.ts, write-failure.ts). */
function plan(world: World, state: State, old: Attempt): Step {
  const { base } = old;
  const attempt: Attempt = { ...old, disk: state.disk };
  const version = versionAt(world, state.disk);
  const level = levelOf(version);
  if (attempt.failed !== undefined) return planFailure(world, state, old, attempt);
  if (version.text === undefined) {
    if (base === undefined && !attempt.recommit) return finish(state, old, 'unchanged');
    return write(world, state, old, attempt, [], {
      ...nothing(attempt),
      status: 'deleted',
      level: base?.level ?? HIDDEN,
      stat: -1,
    });
  }
  if (old.late && isSettled(world, base, attempt)) return finish(state, old, 'unchanged');
  if (version.bad === 'access') return fail(world, state, old, attempt);
  if (isServing(base) && level > base.level && world.rules.failureAppliesAccess) {
    const copies = copy(state, attempt, base, level);
    if (copies === undefined) return again(world, state, old);
    const { status, promises } = base;
    return write(world, state, old, { ...attempt, raises: true }, copies, {
      ...copied(attempt, copies),
      status,
      promises,
      level,
      stat: -1,
    });
  }
  if (attempt.recommit && base?.stat === state.disk && base.status !== 'deleted') {
    return write(world, state, old, attempt, [], { ...base, ...header(attempt) });
  }
  if (version.bad === 'content') return fail(world, state, old, attempt);
  return planContent(world, state, old, attempt, version.text, level);
}

function fail(world: World, state: State, old: Attempt, attempt: Attempt): Step {
  // The failure is committed by an attempt of its own.
  const step = go(state, old, newRound(world, { ...attempt, failed: state.disk }));
  return { ...step, label: `${step.label}, version ${state.disk} fails` };
}

function planFailure(world: World, state: State, old: Attempt, attempt: Attempt): Step {
  const { base } = attempt;
  const { rules } = world;
  const version = versionAt(world, state.disk);
  if (rules.failureTellsOwnBytes && state.disk !== attempt.failed) {
    // The bytes that failed are gone: begin again with those that are there.
    const { failed: _failed, ...rest } = old;
    return again(world, { ...state, attempts: state.attempts.map((one) => (one === old ? rest : one)) }, rest);
  }
  const now = version.text === undefined ? HIDDEN : levelOf(version);
  const rest = {
    status: 'failed',
    stat: version.text === undefined ? -1 : state.disk,
    promises: isServing(base) ? base.promises : '',
  } as const;
  if (!isServing(base) || !rules.failureNamesBase)
    return write(world, state, old, attempt, [], { ...nothing(attempt), ...rest, level: now });
  const level = rules.failureAppliesAccess ? Math.max(now, base.level) : base.level;
  if (level === base.level) {
    return write(world, state, old, attempt, [], { ...base, ...header(attempt), ...rest });
  }
  const copies = copy(state, attempt, base, level);
  if (copies === undefined) return write(world, state, old, attempt, [], { ...nothing(attempt), ...rest, promises: '', level });
  return write(world, state, old, attempt, copies, { ...copied(attempt, copies), ...rest, level });
}

/** plan-chunks.ts */
function planContent(world: World, state: State, old: Attempt, attempt: Attempt, text: string, level: number): Step {
  const { base } = attempt;
  const { rules } = world;
  const ofBase = isServing(base) && base.level === level ? base.named.map((id, n) => ({ id, text: base.texts[n] })) : [];
  const keepable = rules.keepFromBaseOnly ? ofBase : state.chunks.filter((one) => one.level === level);
  const kept = new Set<number>();
  const inserts: Chunk[] = [];
  const named: number[] = [];
  for (const letter of text) {
    const same = keepable.find((one) => !kept.has(one.id) && one.text === letter)?.id;
    if (same === undefined)
      inserts.push({
        id: attempt.attempt * 8 + inserts.length,
        attempt: attempt.attempt,
        fence: attempt.fence,
        text: letter,
        level,
      });
    else kept.add(same);
    named.push(same ?? attempt.attempt * 8 + inserts.length - 1);
  }
  const live = [...new Set(named.map(attemptOf))].sort((a, b) => a - b);
  const dead = new Set<number>(rules.supersededAccumulates ? base?.superseded : []);
  for (const id of base?.named ?? []) if (!kept.has(id)) dead.add(id);
  if (!rules.keepFromBaseOnly) for (const one of state.chunks) if (!named.includes(one.id)) dead.add(one.id);
  for (const id of named) dead.delete(id);
  const superseded = [...dead].filter((id) => live.includes(attemptOf(id))).sort((a, b) => a - b);
  const record: Commit = {
    ...header(attempt),
    live,
    superseded,
    named,
    texts: text,
    status: 'indexed',
    level,
    stat: state.disk,
    promises: sortLetters(text),
  };
  return write(world, state, old, attempt, inserts, record);
}

function write(world: World, state: State, old: Attempt, attempt: Attempt, inserts: readonly Chunk[], record: Commit): Step {
  const step = inserts.length > 0 && world.rules.commitApart ? 'insert' : 'reread';
  return go(state, old, { ...attempt, step, inserts, record });
}

function commit(state: State, attempt: Attempt): Step {
  const { record } = attempt;
  if (record === undefined) throw new Error('nothing to commit');
  const commits = [...state.commits, record].sort((a, b) => a.attempt - b.attempt);
  // Only with the commit in the chunks' batch is there something left to insert.
  const step = attempt.inserts.length > 0 ? 'insert' : 'recheck disk';
  return go({ ...state, commits, told: Math.max(state.told, record.saw) }, attempt, { ...attempt, step });
}

function header(attempt: Attempt): Pick<Commit, 'attempt' | 'fence' | 'base' | 'saw'> {
  return { attempt: attempt.attempt, fence: attempt.fence, base: attempt.base?.fence ?? 0, saw: attempt.disk };
}

function nothing(attempt: Attempt) {
  return { ...header(attempt), live: [], superseded: [], named: [], texts: '', promises: '' };
}

function copied(attempt: Attempt, copies: readonly Chunk[]) {
  return {
    ...header(attempt),
    live: [attempt.attempt],
    superseded: [],
    named: copies.map((chunk) => chunk.id),
    texts: copies.map((chunk) => chunk.text).join(''),
  };
}

/** rewrite.ts: undefined when a chunk of the base is gone. */
function copy(state: State, attempt: Attempt, base: Commit, level: number): Chunk[] | undefined {
  const copies: Chunk[] = [];
  for (const id of base.named) {
    const chunk = state.chunks.find((one) => one.id === id);
    if (chunk === undefined) return undefined;
    copies.push({
      id: attempt.attempt * 8 + copies.length,
      attempt: attempt.attempt,
      fence: attempt.fence,
      text: chunk.text,
      level,
    });
  }
  return copies;
}

function isServing(commit: Commit | undefined): commit is Commit {
  return commit !== undefined && commit.named.length > 0;
}

export function attemptOf(chunkId: number): number {
  return Math.floor(chunkId / 8);
}
