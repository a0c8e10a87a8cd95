import type { Command } from 'commander';
import { badFile } from '../bad-file.js';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { parsedJson } from '../json.js';
import { parseFile } from '../read-file.js';
import { configOf } from '../settings.js';

export function parseCommand(program: Command, run: Run): void {
  program
    .command('parse')
    .description('show what a file is read as; needs no running services')
    .argument('<file>')
    .action(
      run(async (context, _options: object, file: string) => {
        const { limits } = await configOf(context);
        return badFile(context.output, async () => {
          const document = await parseFile(context.cwd, file, limits);
          context.output.value(parsedJson(document));
          for (const { kind, level, page, text } of document.elements) {
            const name = level === undefined ? kind : `${kind} ${level}`;
            context.output.line(`[${name}${page === undefined ? '' : `, page ${page}`}] ${text}`);
          }
          for (const warning of document.warnings) context.output.note(`warning: ${warning}`);
          return EXIT.done;
        });
      }),
    );
}
