import { feedsOf, openSession } from './session.js';
import type { ModelInput } from './thread-messages.js';

/** Runs as a process: the model in a bare loop, for the figure that everything else is measured against. */

/** What bench.ts sends: the first message holds what is to be run, each later one asks for a run. */
type RawMessage = { modelPath: string; inputs: ModelInput[] } | 'run';

let run: (() => Promise<void>) | undefined;
process.on('message', (message: RawMessage) => {
  void (async () => {
    if (message === 'run') await run?.();
    else {
      const session = await openSession(message.modelPath);
      const feeds = message.inputs.map((input) => feedsOf(session, input));
      run = async () => {
        for (const feed of feeds) await session.run(feed);
      };
    }
    process.send?.('done');
  })();
});
process.on('disconnect', () => process.exit());
