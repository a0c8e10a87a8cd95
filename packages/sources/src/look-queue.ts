/** Paths to be looked at, each once for however many touches came before its look. */
export interface LookQueue {
  add(path: string): void;
  /** Paths that wait or are looked at. */
  readonly size: number;
  /** Resolves when there are none. */
  idle(): Promise<void>;
  stop(): void;
}

/** Looks at a time. */
const AT_ONCE = 16;

export function createLookQueue(options: { look(path: string): Promise<void>; onError(error: unknown): void }): LookQueue {
  const waiting = new Set<string>();
  const running = new Set<string>();
  let idlers: (() => void)[] = [];
  let stopped = false;

  function pump(): void {
    for (const path of waiting) {
      if (running.size >= AT_ONCE || stopped) break;
      // Two looks at one path at a time could tell what they saw in the wrong order.
      if (running.has(path)) continue;
      waiting.delete(path);
      running.add(path);
      void options
        .look(path)
        .catch((error: unknown) => {
          if (!stopped) options.onError(error);
        })
        .finally(() => {
          running.delete(path);
          pump();
        });
    }
    if (waiting.size > 0 || running.size > 0) return;
    const resolves = idlers;
    idlers = [];
    for (const resolve of resolves) resolve();
  }

  return {
    add(path) {
      if (stopped) return;
      waiting.add(path);
      pump();
    },
    get size() {
      return waiting.size + running.size;
    },
    idle() {
      if (waiting.size + running.size === 0) return Promise.resolve();
      return new Promise((resolve) => idlers.push(resolve));
    },
    stop() {
      stopped = true;
      waiting.clear();
      pump();
    },
  };
}
