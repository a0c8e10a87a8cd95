/** Lets many in at a time, or one alone. Who waits to be alone is let in before those who come later. */
export interface Gate {
  /** Resolves with the function that leaves. */
  enter(alone: boolean): Promise<() => void>;
}

export function createGate(): Gate {
  let inside = 0;
  let occupiedAlone = false;
  const waiting: { alone: boolean; admit: () => void }[] = [];

  function admit(): void {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      if (occupiedAlone || (first.alone && inside > 0)) return;
      waiting.shift();
      inside++;
      occupiedAlone = first.alone;
      first.admit();
    }
  }

  return {
    enter: (alone) =>
      new Promise((resolve) => {
        let left = false;
        const leave = () => {
          if (left) return;
          left = true;
          inside--;
          if (alone) occupiedAlone = false;
          admit();
        };
        waiting.push({ alone, admit: () => resolve(leave) });
        admit();
      }),
  };
}
