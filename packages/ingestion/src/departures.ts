import type { Clock } from '@sluice/core';

/** Resolves when a request of its kind is due; all who wait for the same moment share the request. */
export type Departure = () => Promise<void>;

/** Longest wait for others, ms: documents that are read or embedded for long don't come. */
const LONGEST_WAIT_MS = 60;

/**
 * Group commit across documents: a request of a kind leaves once as many documents wait for it as are its share of those that are worked
 * on. A lone document waits for nobody. When all documents wait, at least one kind has its share and leaves at once; so nothing that has
 * work to do is kept waiting by this.
 *
 * @param kinds number of kinds of requests that documents wait for
 * @param options `running`: number of documents that are worked on
 * @returns one departure for each kind
 */
export function createDepartures(kinds: number, options: { clock: Clock; running: () => number }): Departure[] {
  const { clock, running } = options;
  return Array.from({ length: kinds }, () => {
    let group: { waiting: number; left: Promise<void>; leave: () => void } | undefined;

    function openGroup() {
      let resolveLeft = () => {};
      const left = new Promise<void>((resolve) => {
        resolveLeft = resolve;
      });
      const own = {
        waiting: 0,
        left,
        leave() {
          if (group === own) group = undefined;
          resolveLeft();
        },
      };
      group = own;
      // Where it has left by then this does nothing: to stop a timer costs more than to let it end.
      void clock.sleep(LONGEST_WAIT_MS).then(own.leave);
      return own;
    }

    return () => {
      const own = group ?? openGroup();
      own.waiting += 1;
      if (own.waiting * kinds >= running()) own.leave();
      return own.left;
    };
  });
}
