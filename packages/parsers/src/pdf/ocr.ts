import { spawn } from 'node:child_process';
import type { ParseInput } from '@sluice/core';
import { PDFParse } from 'pdf-parse';
import { breathe } from '../limits.js';
import { pdfOptions } from './open-pdf.js';

/** Width of the picture that is read, in pixels: about 200 dots an inch for letters and A4. */
const WIDTH = 1700;
/** One page may take this long. */
const PAGE_MS = 60_000;
/** Text of one page. */
const MAX_OUTPUT = 4 * 1024 * 1024;

export type OcrResult = { pages: { number: number; text: string }[] } | { unavailable: string };

/** Reads pages without text with the user's `tesseract`, page by page; says so where there is none. */
export async function readScans(
  input: ParseInput,
  password: string | undefined,
  numbers: readonly number[],
  languages: string,
): Promise<OcrResult> {
  const pages: { number: number; text: string }[] = [];
  const parser = new PDFParse({ ...pdfOptions(input.bytes), maxImageSize: -1, ...(password === undefined ? {} : { password }) });
  try {
    for (const number of numbers) {
      await breathe(input);
      const { pages: shots } = await parser.getScreenshot({
        partial: [number],
        desiredWidth: WIDTH,
        imageDataUrl: false,
        imageBuffer: true,
      });
      const picture = shots[0]?.data;
      if (picture === undefined) continue;
      const text = await runTesseract(picture, languages, input.signal);
      if (text === undefined)
        return { unavailable: 'tesseract is not installed or does not know the languages of pdf.ocr_languages' };
      pages.push({ number, text });
      input.onProgress?.(number / (numbers.at(-1) ?? number));
    }
    return { pages };
  } finally {
    await parser.destroy();
  }
}

/** What `tesseract` reads in a picture; undefined when it can't be run. */
function runTesseract(picture: Uint8Array, languages: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn('tesseract', ['stdin', 'stdout', '-l', languages], {
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: PAGE_MS,
      ...(signal === undefined ? {} : { signal }),
    });
    const pieces: Buffer[] = [];
    let length = 0;
    child.stdout.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length <= MAX_OUTPUT) pieces.push(piece);
    });
    child.once('error', () => resolve(undefined));
    child.once('close', (code) => resolve(code === 0 ? Buffer.concat(pieces).toString('utf8') : undefined));
    // A program that ends without reading closes the pipe: its exit code says what happened.
    child.stdin.on('error', () => undefined);
    child.stdin.end(picture);
  });
}
