import { type Command, Option } from 'commander';
import { allDocuments } from '../all-documents.js';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { given } from '../given.js';
import { table } from '../output.js';
import type { DocumentView } from '../responses.js';

interface Options {
  status?: DocumentView['status'];
  source?: string;
}

export function documentsCommand(program: Command, run: Run): void {
  program
    .command('documents')
    .description('list documents with their status')
    .addOption(new Option('--status <status>').choices(['pending', 'indexed', 'empty', 'skipped', 'failed']))
    .option('--source <name>', 'only those of one source')
    .action(
      run(async ({ api, output }, { status, source }: Options) => {
        const documents = await allDocuments(await api(), given({ status, source }));
        output.value({ documents });
        const rows = documents.map((document) => [
          document.status,
          document.doc_id,
          `${document.chunks} chunks`,
          document.reason === undefined ? '' : `${document.reason}: ${document.message ?? ''}`,
        ]);
        output.line(rows.length === 0 ? 'No documents.' : table(rows));
        return EXIT.done;
      }),
    );
}
