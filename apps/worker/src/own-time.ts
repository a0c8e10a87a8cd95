/** A limit on the time a process takes by itself: while it waits for others the clock stands still. */
export interface OwnTime {
  /** Until `done` is called, as often as this was called, nothing counts. */
  waits(): { done(): void };
  stop(): void;
}

/** @param limitMs own time after which `onSpent` is called, once */
export function limitOwnTime(limitMs: number, onSpent: () => void): OwnTime {
  let left = limitMs;
  let began = performance.now();
  let timer: NodeJS.Timeout | undefined = setTimeout(onSpent, left);
  let waiting = 0;
  let stopped = false;
  return {
    waits() {
      waiting += 1;
      if (waiting === 1 && !stopped) {
        clearTimeout(timer);
        left -= performance.now() - began;
      }
      let over = false;
      return {
        done() {
          if (over) return;
          over = true;
          waiting -= 1;
          if (waiting > 0 || stopped) return;
          began = performance.now();
          timer = setTimeout(onSpent, Math.max(0, left));
        },
      };
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
