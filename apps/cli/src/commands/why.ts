import { resolve } from 'node:path';
import { dataOf } from '@sluice/client';
import type { Command } from 'commander';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import type { DocumentView } from '../responses.js';

interface Explanation {
  path: string;
  doc_id?: string;
  ignored?: { rule: string; from: string };
  document?: DocumentView;
  access?: { security_level: number; allowed_groups?: string[] };
  origins: Record<string, string>;
  note?: string;
}

export function whyCommand(program: Command, run: Run): void {
  program
    .command('why')
    .description('tell why a file is or is not found: what ignores it, its status, its metadata, who can see it')
    .argument('<path>')
    .action(
      run(async ({ api, output, cwd }, _options: object, path: string) => {
        const explanation = dataOf(await (await api()).GET('/ops/api/why', { params: { query: { path: resolve(cwd, path) } } }));
        output.value(explanation);
        for (const line of describe(explanation)) output.line(line);
        return EXIT.done;
      }),
    );
}

function describe({ path, doc_id, ignored, document, access, origins, note }: Explanation): string[] {
  const lines = [path];
  if (doc_id !== undefined) lines.push(`  document   ${doc_id}`);
  if (ignored !== undefined) lines.push(`  ignored    by ${ignored.rule} (${ignored.from})`);
  if (document !== undefined) {
    lines.push(
      `  status     ${document.status}${document.reason === undefined ? '' : `: ${document.reason}: ${document.message ?? ''}`}`,
    );
    lines.push(`  serving    ${document.serving ? `${document.chunks} chunks, revision ${document.revision}` : 'nothing'}`);
    for (const [field, value] of Object.entries(document.metadata)) {
      const origin = origins[field];
      lines.push(`  ${field.padEnd(10)} ${JSON.stringify(value)}${origin === undefined ? '' : `  (${origin})`}`);
    }
    for (const warning of document.warnings) lines.push(`  warning    ${warning}`);
  }
  if (access !== undefined) lines.push(`  seen by    ${seenBy(access)}`);
  if (note !== undefined) lines.push(`  ${note}`);
  return lines;
}

function seenBy({ security_level, allowed_groups }: { security_level: number; allowed_groups?: string[] }): string {
  const level = `readers of clearance ${security_level} or more`;
  if (allowed_groups === undefined) return level;
  if (allowed_groups.length === 0) return 'operators of clearance 5 alone';
  return `${level} in ${allowed_groups.join(' or ')}, and operators of clearance 5`;
}
