import { resolve } from 'node:path';
import { createChunkingSchema, STRATEGIES } from '@sluice/chunking/settings';
import type { Config } from '@sluice/config';
import { type ChunkingSettings, type Llm, SluiceError } from '@sluice/core';
import { type Command, Option } from 'commander';
import { badFile } from '../bad-file.js';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { chunkJson } from '../json.js';
import { setting } from '../options.js';
import { parseFile } from '../read-file.js';
import { configOf, modelOf } from '../settings.js';

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
        const { openModel, openTokenizer } = await import('@sluice/models');
        const { chunkDocument } = await import('@sluice/chunking');
        const config = await configOf(context);
        const model = await modelOf(context, config);
        const tokenizer = await openTokenizer(model);
        const settings = checkSettings({ ...set, ...promptFile(set, context.cwd), strategy }, tokenizer.maxTokens);
        const llm = strategy === 'propositions' ? await llmOf(config) : undefined;
        return badFile(context.output, async () => {
          const document = await parseFile(context.cwd, file, config.limits);
          const embedder = strategy === 'semantic' ? await openModel(model, { threads: 1 }) : undefined;
          try {
            const { chunks, dropped, usage } = await chunkDocument(document, settings, {
              tokenizer,
              embedder,
              llm,
              signal: context.signal,
            });
            context.output.value(chunks.map(chunkJson));
            for (const { index, kind, start, end, tokens, text } of chunks) {
              context.output.line(`--- ${index}: ${kind}, ${start}-${end}, ${tokens} word pieces\n${text}`);
            }
            if (dropped.length > 0) context.output.note(`${dropped.length} ${dropped.length === 1 ? 'fact' : 'facts'} dropped:`);
            for (const { text, reason } of dropped) context.output.note(`  ${text} (${reason})`);
            if (usage !== undefined) {
              const { calls, prompt_tokens: read, completion_tokens: written } = usage;
              context.output.note(`language model: ${calls} calls, ${read} tokens read, ${written} written`);
            }
            return EXIT.done;
          } finally {
            await embedder?.close();
          }
        });
      }),
    );
}

function promptFile({ prompt_file: file }: Record<string, unknown>, cwd: string): { prompt_file?: string } {
  return typeof file === 'string' ? { prompt_file: resolve(cwd, file) } : {};
}

async function llmOf({ llm }: Config): Promise<Llm> {
  const { createLlm } = await import('@sluice/llm');
  if (llm !== undefined) return createLlm(llm);
  throw new SluiceError(
    'invalid_configuration',
    '--strategy propositions needs a language model: set llm.base_url and llm.model in sluice.yaml',
  );
}

function checkSettings(settings: Record<string, unknown>, modelTokens: number): ChunkingSettings {
  const checked = createChunkingSchema(modelTokens).safeParse(settings);
  if (checked.success) return checked.data;
  const problems = checked.error.issues.map((issue) => {
    const what = issue.code === 'unrecognized_keys' ? `unknown setting ${issue.keys.join(', ')}` : issue.message;
    return [...(issue.path.length === 0 ? [] : [issue.path.join('.')]), what].join(' ');
  });
  throw new SluiceError('invalid_configuration', `--set: ${problems.join('; ')}`);
}
