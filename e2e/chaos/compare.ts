import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Api } from './api.js';
import { sha256, UNREADABLE } from './documents.js';

/**
 * The harness' own comparison, which shares nothing with `sluice verify`: each file of the disk is told with its hash, and its chunks,
 * read over HTTP, cover its text exactly once; nothing else is reported. Yields what differs.
 */
export async function compareWithDisk(folder: string, operator: Api): Promise<string[]> {
  const differences: string[] = [];
  const files = await listFiles(folder);
  const told = new Map((await operator.documents()).map((document) => [document.doc_id, document]));
  for (const path of files) {
    const docId = `inbox/${path}`;
    const document = told.get(docId);
    told.delete(docId);
    const content = await readFile(join(folder, path), 'utf8');
    if (document === undefined) differences.push(`${docId}: on disk, but not reported`);
    else if (content.includes(UNREADABLE)) {
      if (document.status !== 'failed') differences.push(`${docId}: ${document.status} though it can't be read`);
    } else if (document.status !== 'indexed') differences.push(`${docId}: ${document.status} (${document.reason ?? ''})`);
    else if (document.content_hash !== sha256(content)) differences.push(`${docId}: told with another hash than the file's`);
    else {
      const wrong = compareText(content, await operator.chunks(docId));
      if (wrong !== undefined) differences.push(`${docId}: ${wrong}`);
      const category = await categoryOf(folder, path);
      if (document.metadata.category !== category)
        differences.push(`${docId}: category ${document.metadata.category ?? 'none'}, not ${category}`);
      const level = await levelOf(folder, path, content);
      if (document.metadata.security_level !== level)
        differences.push(`${docId}: level ${document.metadata.security_level ?? 'none'}, not ${level}`);
    }
  }
  for (const docId of told.keys()) differences.push(`${docId}: reported, but not on disk`);
  return differences;
}

/** Every character of the text but white space and front matter lies in one chunk, and each chunk is what its span says. */
function compareText(
  content: string,
  chunks: readonly { text: string; prefix: string; start: number; end: number }[],
): string | undefined {
  const covered = new Uint8Array(content.length);
  for (const chunk of chunks) {
    if (chunk.text !== chunk.prefix + content.slice(chunk.start, chunk.end)) return 'a chunk is not what its span says';
    for (let at = chunk.start; at < chunk.end; at += 1) covered[at] = (covered[at] ?? 0) + 1;
  }
  const begin = /^---\n[\s\S]*?\n---\n/.exec(content)?.[0].length ?? 0;
  for (let at = begin; at < content.length; at += 1) {
    if (/\s/.test(content.charAt(at))) continue;
    if (covered[at] !== 1) return `character ${at} lies in ${covered[at] ?? 0} chunks`;
  }
  return undefined;
}

/** What the sidecar says, else the rule of the folder. */
async function categoryOf(folder: string, path: string): Promise<string> {
  const sidecar = await readFile(join(folder, `${path}.meta.yaml`), 'utf8').catch(() => '');
  const own = /^category: (\S+)$/m.exec(sidecar)?.[1];
  return own ?? (/^(steady|roam)\//.exec(path)?.[1] || 'other');
}

async function levelOf(folder: string, path: string, content: string): Promise<number> {
  const sidecar = await readFile(join(folder, `${path}.meta.yaml`), 'utf8').catch(() => '');
  const said = [content, sidecar].map((text) => Number(/^security_level: (\d)$/m.exec(text)?.[1] ?? 1));
  return Math.max(...said);
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.') && !entry.name.endsWith('.meta.yaml'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
