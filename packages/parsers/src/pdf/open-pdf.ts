import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ParseInput, SluiceError } from '@sluice/core';
import { InvalidPDFException, type LoadParameters, PasswordException, PDFParse, VerbosityLevel } from 'pdf-parse';
import { findAbsurdNumber } from './absurd-numbers.js';
import type { PdfDocument } from './pdf-types.js';
import { ignoreStrayRejections } from './stray-rejections.js';

/**
 * Folder of the pdfjs-dist that pdf-parse itself uses: character maps of CJK fonts and metrics of the standard fonts lie there, and
 * must be those of its version.
 */
function pdfjsFolder(): string {
  const fromPdfParse = createRequire(createRequire(import.meta.url).resolve('pdf-parse'));
  return dirname(fromPdfParse.resolve('pdfjs-dist/package.json'));
}

/** How pdf.js is to read: with the character maps, without running, fetching or decoding anything but text. */
export function pdfOptions(bytes: Uint8Array): LoadParameters {
  const folder = pathToFileURL(pdfjsFolder()).pathname;
  return {
    // pdf.js takes the bytes over: it gets a copy.
    data: new Uint8Array(bytes),
    cMapUrl: `${join(folder, 'cmaps')}/`,
    cMapPacked: true,
    standardFontDataUrl: `${join(folder, 'standard_fonts')}/`,
    useSystemFonts: false,
    disableFontFace: true,
    isEvalSupported: false,
    isOffscreenCanvasSupported: false,
    maxImageSize: 1,
    verbosity: VerbosityLevel.ERRORS,
  };
}

export interface OpenPdf {
  document: PdfDocument;
  /** The password that opened it, if it needed one. */
  password: string | undefined;
  close: () => Promise<void>;
}

/**
 * Opens a PDF, with each password in turn where it needs one.
 *
 * @throws SluiceError `password_required`, `corrupt`
 */
export async function openPdf(input: Pick<ParseInput, 'bytes' | 'name' | 'passwords'>): Promise<OpenPdf> {
  const absurd = findAbsurdNumber(input.bytes);
  if (absurd !== undefined) throw new SluiceError('corrupt', `${input.name} is a damaged PDF: ${absurd}`);
  const stopIgnoring = ignoreStrayRejections();
  try {
    return await openWithPasswords(input, stopIgnoring);
  } catch (error) {
    stopIgnoring();
    throw error;
  }
}

async function openWithPasswords(
  input: Pick<ParseInput, 'bytes' | 'name' | 'passwords'>,
  stopIgnoring: () => void,
): Promise<OpenPdf> {
  for (const password of [undefined, ...(input.passwords ?? [])]) {
    const parser = new PDFParse({ ...pdfOptions(input.bytes), ...(password === undefined ? {} : { password }) });
    try {
      // pdf-parse loads the document with each of its own methods; positions of text are to be had from the document alone, so the
      // loading method is called by name.
      // biome-ignore lint/complexity/useLiteralKeys: private by its types
      const document = (await parser['load']()) as PdfDocument;
      if (document.numPages < 1) throw new SluiceError('corrupt', `${input.name} is a damaged PDF: it has no pages`);
      return { document, password, close: () => parser.destroy().finally(stopIgnoring) };
    } catch (error) {
      await parser.destroy().catch(() => undefined);
      if (error instanceof PasswordException) continue;
      if (error instanceof InvalidPDFException)
        throw new SluiceError('corrupt', `${input.name} is a damaged PDF`, { cause: error });
      throw error;
    }
  }
  const tried = input.passwords?.length ?? 0;
  throw new SluiceError(
    'password_required',
    `${input.name} is encrypted${tried > 0 ? ' and none of the passwords opens it' : ''}; set passwords of its source in sluice.yaml`,
  );
}
