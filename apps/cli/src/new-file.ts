import { writeFile } from 'node:fs/promises';
import { SluiceError } from '@sluice/core';

/** Writes values as JSON lines to a file that must not be there yet: what people reworded is never lost. Error `invalid_request`. */
export async function writeNewLines(file: string, values: readonly unknown[]): Promise<void> {
  const lines = values.map((value) => `${JSON.stringify(value)}\n`);
  await writeFile(file, lines.join(''), { flag: 'wx' }).catch((cause: unknown) => {
    throw new SluiceError('invalid_request', `${file} cannot be written, or is there already`, { cause });
  });
}
