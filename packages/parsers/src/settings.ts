import type { ParseLimits } from '@sluice/core';
import { z } from 'zod';

const MB = 1024 * 1024;

/** The section `limits` of the configuration; sizes in MB (1024 x 1024), times in seconds. */
export const limitsSchema = z
  .object({
    file_mb: z.number().positive().default(512).describe('Largest file that is read.'),
    text_mb: z
      .number()
      .positive()
      .max(500)
      .default(256)
      .describe('Longest parsed text, in millions (1024 x 1024) of UTF-16 units. V8 holds no string over 512.'),
    parse_s: z.number().positive().default(120).describe('Longest time one document may be parsed and chunked.'),
    parse_memory_mb: z.number().int().min(128).default(1024).describe('Memory of the process that parses one document.'),
    archive_ratio: z
      .number()
      .min(2)
      .default(200)
      .describe('Uncompressed over compressed size, of an archive as a whole and of each of its large entries.'),
    archive_entries: z
      .number()
      .int()
      .positive()
      .default(10_000)
      .describe('Entries of an archive; attachments of a mail, with those of mails within.'),
    depth: z
      .number()
      .int()
      .min(10)
      .max(1000)
      .default(200)
      .describe('Nesting of XML, JSON and HTML; mails in mails nest a tenth of it.'),
  })
  .strict();

/** The limits as parsers take them. */
export function toParseLimits(limits: z.infer<typeof limitsSchema>): ParseLimits {
  return {
    fileBytes: Math.floor(limits.file_mb * MB),
    textUnits: Math.floor(limits.text_mb * MB),
    parseMs: Math.floor(limits.parse_s * 1000),
    parseMemoryMb: limits.parse_memory_mb,
    archiveRatio: limits.archive_ratio,
    archiveEntries: limits.archive_entries,
    depth: limits.depth,
  };
}

/** What is used where the configuration is silent. */
export const defaultParseLimits: ParseLimits = toParseLimits(limitsSchema.parse({}));

/** Settings of single formats, by format name. */
export const parserSettingsSchema = z
  .object({
    pdf: z
      .object({
        /** Keep what repeats at the top and bottom of pages, and page numbers. */
        headers_footers: z.boolean().default(false),
        /** Read scanned pages with the program `tesseract`, where it is installed. */
        ocr: z.boolean().default(false),
        /** Languages for `tesseract`, as `eng+deu`. */
        ocr_languages: z
          .string()
          .regex(/^[A-Za-z_]+(\+[A-Za-z_]+)*$/)
          .default('eng'),
      })
      .strict()
      .prefault({}),
    docx: z
      .object({
        /** Read headers and footers, each text once, at the end, where the body does not say it. */
        headers_footers: z.boolean().default(true),
      })
      .strict()
      .prefault({}),
    html: z
      .object({
        /** Leave out navigation, footers and the like. */
        main_content: z.boolean().default(true),
      })
      .strict()
      .prefault({}),
    eml: z
      .object({
        /** Read attachments, each by its own format, into the text of the mail. */
        attachments: z.boolean().default(true),
      })
      .strict()
      .prefault({}),
    xlsx: z
      .object({
        /** Read hidden sheets too. */
        hidden_sheets: z.boolean().default(false),
      })
      .strict()
      .prefault({}),
    pptx: z
      .object({
        /** Read speakers' notes. */
        notes: z.boolean().default(true),
        /** Read slides that are hidden in the show. */
        hidden_slides: z.boolean().default(false),
      })
      .strict()
      .prefault({}),
  })
  .strict();

export type ParserSettings = z.infer<typeof parserSettingsSchema>;
