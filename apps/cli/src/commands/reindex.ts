import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { dataOf } from '@sluice/client';
import { SluiceError } from '@sluice/core';
import type { Command } from 'commander';
import type { Context, Run } from '../context.js';
import { EXIT } from '../exit.js';
import { given } from '../given.js';
import type { Api } from '../responses.js';
import { configOf } from '../settings.js';
import { waitFor } from '../wait.js';

interface Options {
  source?: string;
  model?: string;
  wait?: boolean;
  abort?: boolean;
  rollback?: boolean;
  prune?: boolean;
}

export function reindexCommand(program: Command, run: Run): void {
  program
    .command('reindex')
    .description('read, chunk and embed documents again, changed or not; with --model build the index of another model')
    .option('--source <name>', 'only those of one source')
    .option(
      '--model <name>',
      'build the index of this model beside the live one; a name on the hub, a folder, or the endpoint in sluice.yaml',
    )
    .option('--wait', 'with --model: wait until the model answers')
    .option('--abort', 'end the build, and remove what it has built')
    .option('--rollback', 'let the model before answer again')
    .option('--prune', 'remove the collections that no model of this instance uses')
    .action(
      run(async (context, options: Options) => {
        const chosen = (['source', 'model', 'abort', 'rollback', 'prune'] as const).filter((name) => options[name] !== undefined);
        if (chosen.length > 1) {
          throw new SluiceError('invalid_configuration', `--${chosen.join(' and --')} cannot be used together.`);
        }
        const api = await context.api();
        if (options.model !== undefined) return build(context, api, options.model, options.wait === true);
        if (chosen.length === 1 && options.source === undefined) {
          const action = options.abort === true ? 'abort' : options.rollback === true ? 'rollback' : 'prune';
          const { removed } = dataOf(await api.POST('/ops/api/models', { body: { action } }));
          context.output.value({ removed });
          if (action === 'prune')
            context.output.line(removed.length === 0 ? 'Nothing is unused.' : `removed ${removed.join(', ')}`);
          else context.output.line(action === 'abort' ? 'the build is ended' : 'the model before answers again within seconds');
          return EXIT.done;
        }
        const answer = dataOf(await api.POST('/ops/api/reindex', { body: given({ source: options.source }) }));
        context.output.value(answer);
        context.output.line(`${answer.documents} documents queued`);
        return EXIT.done;
      }),
    );
}

async function build(context: Context, api: Api, name: string, waits: boolean) {
  const { output } = context;
  const wanted = await findModel(context, name);
  dataOf(await api.POST('/ops/api/models', { body: { action: 'build', ...wanted } }));
  const read = async () => dataOf(await api.GET('/ops/api/models'));
  if (!waits) {
    const models = await read();
    output.value(models);
    output.line(
      `${wanted.model} is being built; ${models.live.model} answers until it is complete. Watch: sluice reindex --model ${name} --wait`,
    );
    return EXIT.done;
  }
  let shown = '';
  const done = await waitFor(context, undefined, async () => {
    const models = await read();
    if (models.next === undefined) return models;
    const { documents, done: same, failed, remaining_s } = models.next;
    const left = remaining_s === undefined ? '' : `, about ${remaining_s} s left`;
    const line = `${same} of ${documents} documents${failed === 0 ? '' : `, ${failed} failed`}${left}`;
    if (line !== shown) output.note(line);
    shown = line;
    return undefined;
  });
  output.value(done);
  const answers = done?.live.model === wanted.model;
  output.line(answers ? `${wanted.model} answers from now on` : 'the build was ended');
  return answers ? EXIT.done : EXIT.wrong;
}

/** A folder as it is; a model that the configuration reaches at an endpoint; else one of the hub, installed when it is missing. */
async function findModel(context: Context, name: string): Promise<{ model: string; folder?: string }> {
  const path = resolve(context.cwd, name);
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return { model: `${basename(dirname(path))}/${basename(path)}`, folder: path };
  const { embedding } = await configOf(context);
  if (embedding.model === name && embedding.endpoint !== undefined) return { model: name };
  const { createWorkplace, modelSpec, obtainModel } = await import('@sluice/launcher');
  const workplace = createWorkplace(context.env, (line) => context.output.note(line), context.signal);
  return { model: name, folder: await obtainModel(workplace, { spec: modelSpec(name), choice: 'auto', cwd: context.cwd }) };
}
