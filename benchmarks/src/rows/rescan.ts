import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext, Row } from '../bench.js';
import { type BenchInstance, until, withInstance } from '../instance.js';
import { round } from '../statistics.js';

/** What the watcher logs of a scan. */
interface ScanLine {
  msg: string;
  files: number;
  differences: number;
  ms: number;
}

async function scansOf(instance: BenchInstance): Promise<ScanLine[]> {
  const folder = join(instance.data, 'log');
  const names = (await readdir(folder)).filter((name) => name.startsWith('watcher'));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line.includes('"msg":"scan"'));
  return lines.map((line) => JSON.parse(line) as ScanLine);
}

/** A scan of files of which none has changed, by stat. */
export async function benchRescan({ services, sizes }: BenchContext): Promise<Row[]> {
  return withInstance(
    services,
    async (instance) => {
      const files = sizes.rescanned;
      // All have the same text, which is embedded once: this row is about the scan.
      await instance.moveIn('many', Array<string>(files).fill('The same short text in each file.'));
      await until(async () => (await instance.countObjects('Commit')) > files, 500);
      await instance.settle();
      const before = (await scansOf(instance)).length;
      const embeddings = await instance.metric('sluice_embeddings_computed_total');
      const written = await instance.metric('sluice_objects_written_total');
      await instance.cli('ingest', instance.folder, '--wait');
      await until(async () => (await scansOf(instance)).length > before, 100);
      const last = (await scansOf(instance)).at(-1);
      if (last === undefined || last.files < files || last.differences > 0)
        throw new Error(`no such scan: ${JSON.stringify(last)}`);
      return [
        {
          what: 'rescan, nothing changed',
          files: last.files,
          seconds: round(last.ms / 1000, 2),
          'files/s': round((1000 * last.files) / last.ms),
          embeddings: (await instance.metric('sluice_embeddings_computed_total')) - embeddings,
          'objects written': (await instance.metric('sluice_objects_written_total')) - written,
        },
      ];
    },
    { SLUICE_LOG_LEVEL: 'info' },
  );
}
