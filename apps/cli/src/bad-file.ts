import { isReason, SluiceError } from '@sluice/core';
import { EXIT, type ExitCode } from './exit.js';
import type { Output } from './output.js';

/** Runs the work on one file; a file that can't be read as a document is told with its reason and exit 1. */
export async function badFile(output: Output, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SluiceError) || !isReason(error.code)) throw error;
    output.value({ error: { code: error.code, message: error.message } });
    output.note(`${error.code}: ${error.message}`);
    return EXIT.wrong;
  }
}
