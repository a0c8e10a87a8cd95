import { setTimeout as sleep } from 'node:timers/promises';
import { makeDocId } from '@sluice/core';
import { type Api, ApiError } from './api.js';
import type { Secret, Tracked, Vanished } from './documents.js';

/** Looks, by the API, for the commits of what was written: what is seen here every later search must show. */
export interface ChangeWatch {
  watch(document: Tracked): void;
  watchEnd(vanished: Vanished): void;
  stop(): Promise<void>;
}

export function createChangeWatch(operator: Api): ChangeWatch {
  const changed = new Set<Tracked>();
  const ended = new Set<Vanished>();
  let stopped = false;

  async function look(document: Tracked): Promise<void> {
    const { hash } = document;
    const epoch = isSecret(document) ? document.epoch : 0;
    const view = await operator.document(makeDocId('inbox', document.path));
    const version = document.versions.get(view.content_hash);
    if (version !== undefined) document.committed = Math.max(document.committed, version);
    if (view.content_hash !== hash || document.hash !== hash) return;
    if (isSecret(document)) {
      if (document.epoch !== epoch || view.metadata.security_level !== document.level) return;
      document.hidden = document.level > 1;
      document.visible = document.level === 1 && view.serving && view.status === 'indexed';
      // A document that is read again (its job still waits) is looked at once more.
      if (!document.hidden && !document.visible) return;
    }
    document.replacing = false;
    changed.delete(document);
  }

  async function lookForEnd(vanished: Vanished): Promise<void> {
    if (!vanished.back) {
      const isThere = await operator.document(makeDocId('inbox', vanished.path)).then(
        () => true,
        (cause: unknown) => {
          if (cause instanceof ApiError && cause.status === 404) return false;
          throw cause;
        },
      );
      if (isThere) return;
      vanished.known = true;
    }
    ended.delete(vanished);
  }

  async function run(): Promise<void> {
    while (!stopped) {
      // Errors are those of a service that is away: it is looked again.
      for (const document of changed) await look(document).catch(() => {});
      for (const vanished of ended) await lookForEnd(vanished).catch(() => {});
      await sleep(60);
    }
  }

  const running = run();
  return {
    watch: (document) => void changed.add(document),
    watchEnd: (vanished) => void ended.add(vanished),
    async stop() {
      stopped = true;
      await running;
    },
  };
}

function isSecret(document: Tracked): document is Secret {
  return 'epoch' in document;
}
