import { dataOf } from '@sluice/client';
import { isoInstant, parseDate } from '@sluice/metadata';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { given } from '../given.js';
import { table } from '../output.js';

interface CreateOptions {
  name: string;
  clearance: 1 | 2 | 3 | 4 | 5;
  groups?: string[];
  sources?: string[];
  role: 'reader' | 'operator' | 'metrics';
  expires?: string;
}

export function keyCommand(program: Command, run: Run): void {
  const key = program.command('key').description('keys of the API');

  key
    .command('create')
    .description('make a key; it is shown this once')
    .requiredOption('--name <name>', 'who or what it is for')
    .requiredOption('--clearance <1-5>', 'the highest security level it sees', clearance)
    .option('--groups <a,b>', 'groups it belongs to', names)
    .option('--sources <a,b>', 'the only sources that it opens (default: all)', names)
    .addOption(new Option('--role <role>').choices(['reader', 'operator', 'metrics']).default('reader'))
    .option('--expires <date>', 'refused from this day or instant on, as 2027-01-31', instant)
    .action(
      run(async ({ api, output }, { name, clearance, groups, sources, role, expires }: CreateOptions) => {
        const client = await api();
        const body = { name, clearance, role, ...given({ groups, sources, expires_at: expires }) };
        const made = dataOf(await client.POST('/ops/api/keys', { body }));
        output.value(made);
        output.line(made.key);
        output.note('Calls without a key are refused from now on.');
        output.note(
          'This command line works without one where it can read the data folder; to use this key: export SLUICE_API_KEY=...',
        );
        return EXIT.done;
      }),
    );

  key
    .command('list')
    .description('keys, without their secrets')
    .action(
      run(async ({ api, output }) => {
        const answer = dataOf(await (await api()).GET('/ops/api/keys'));
        output.value(answer);
        const rows = answer.keys.map(({ id, name, role, clearance, groups, sources, expires_at, last_used_at }) => [
          id,
          name,
          role,
          `clearance ${clearance}`,
          groups.join(','),
          sources === undefined ? '' : `sources ${sources.join(',')}`,
          expires_at === undefined ? '' : `expires ${expires_at}`,
          last_used_at === undefined ? '' : `used ${last_used_at}`,
        ]);
        output.line(rows.length === 0 ? 'No keys.' : table(rows));
        return EXIT.done;
      }),
    );

  key
    .command('revoke')
    .description('refuse a key from now on')
    .argument('<id>')
    .action(
      run(async ({ api, output }, _options: object, id: string) => {
        await (await api()).DELETE('/ops/api/keys/{id}', { params: { path: { id } } });
        output.value({ revoked: id });
        output.line(`${id} revoked`);
        return EXIT.done;
      }),
    );
}

function clearance(text: string): number {
  if (!/^[1-5]$/.test(text)) throw new InvalidArgumentError('must be 1, 2, 3, 4 or 5.');
  return Number(text);
}

function names(text: string): string[] {
  return text
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '');
}

/** A day begins at midnight UTC; an instant that names no zone is UTC too. */
function instant(text: string): string {
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? parseDate(text) : undefined;
  if (date === undefined) throw new InvalidArgumentError('must be a date, as 2027-01-31, or an instant, as 2027-01-31T18:00Z.');
  return isoInstant(date.start);
}
