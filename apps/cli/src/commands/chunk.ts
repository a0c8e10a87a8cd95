import { chunkDocument, createChunkingSchema, STRATEGIES } from '@sluice/chunking';
import { type ChunkingSettings, SluiceError } from '@sluice/core';
import { createEmbedder, createTokenizer } from '@sluice/models';
import { type Command, Option } from 'commander';
import { badFile } from '../bad-file.js';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { chunkJson } from '../json.js';
import { setting } from '../options.js';
import { parseFile } from '../read-file.js';
import { configOf, modelFolderOf } from '../settings.js';

interface Options {
  strategy: string;
  set?: Record<string, unknown>;
}

export function chunkCommand(program: Command, run: Run): void {
  program
    .command('chunk')
    .description('show the chunks a file is cut into; needs no running services')
    .argument('<file>')
    .addOption(new Option('--strategy <strategy>').choices([...STRATEGIES]).default('auto'))
    .option('--set <key=value>', 'a setting of the strategy, as max_tokens=120; may be repeated', setting)
    .action(
      run(async (context, { strategy, set = {} }: Options, file: string) => {
        const config = configOf(context);
        const folder = await modelFolderOf(context, config);
        const tokenizer = await createTokenizer({ folder });
        const settings = checkSettings({ ...set, strategy }, tokenizer.maxTokens);
        return badFile(context.output, async () => {
          const document = await parseFile(context.cwd, file, config.limits);
          const embedder = strategy === 'semantic' ? await createEmbedder({ folder, threads: 1 }) : undefined;
          try {
            const { chunks, dropped } = await chunkDocument(document, settings, {
              tokenizer,
              ...(embedder === undefined ? {} : { embedder }),
            });
            context.output.value(chunks.map(chunkJson));
            for (const { index, kind, start, end, tokens, text } of chunks) {
              context.output.line(`--- ${index}: ${kind}, ${start}-${end}, ${tokens} word pieces\n${text}`);
            }
            if (dropped.length > 0) context.output.note(`${dropped.length} facts dropped`);
            return EXIT.done;
          } finally {
            await embedder?.close();
          }
        });
      }),
    );
}

function checkSettings(settings: Record<string, unknown>, modelTokens: number): ChunkingSettings {
  const checked = createChunkingSchema(modelTokens).safeParse(settings);
  if (checked.success) return checked.data;
  const problems = checked.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
  throw new SluiceError('invalid_configuration', `--set: ${problems.join('; ')}`);
}
