import * as make from './make-documents.js';

export interface ParserBenchmark {
  format: string;
  /** File name that the input goes by. */
  name: string;
  /** What it is, in words. */
  about: string;
  make: () => Uint8Array;
}

const MB = 1024 * 1024;

/** One ordinary input a format, and the large ones that must be read within 1 GiB. */
export const PARSER_BENCHMARKS: readonly ParserBenchmark[] = [
  { format: 'text', name: 'a.txt', about: '10 MB of text', make: () => make.makeText(10 * MB) },
  { format: 'markdown', name: 'a.md', about: '5,000 sections', make: () => make.makeMarkdown(5_000) },
  { format: 'html', name: 'a.html', about: '5,000 sections', make: () => make.makeHtml(5_000) },
  { format: 'pdf', name: 'a.pdf', about: '100 pages', make: () => make.makePdf(100) },
  { format: 'docx', name: 'a.docx', about: '5,000 paragraphs', make: () => make.makeDocx(5_000) },
  { format: 'pptx', name: 'a.pptx', about: '200 slides', make: () => make.makePptx(200) },
  { format: 'xlsx', name: 'a.xlsx', about: '10,000 rows', make: () => make.makeXlsx(10_000) },
  { format: 'csv', name: 'a.csv', about: '10,000 rows', make: () => make.makeCsv(10_000) },
  { format: 'json', name: 'a.json', about: '10,000 objects', make: () => make.makeJson(10_000) },
  { format: 'jsonl', name: 'a.jsonl', about: '10,000 records', make: () => make.makeJsonLines(10_000) },
  { format: 'eml', name: 'a.eml', about: '2,000 paragraphs', make: () => make.makeEml(2_000) },
  { format: 'code', name: 'a.ts', about: '5,000 functions', make: () => make.makeCode(5_000) },
  { format: 'sql', name: 'a.sql', about: '20,000 statements', make: () => make.makeSql(20_000) },
  { format: 'text', name: 'large.txt', about: '200 MB of text', make: () => make.makeText(200 * MB) },
  { format: 'csv', name: 'large.csv', about: '100,000 rows', make: () => make.makeCsv(100_000) },
  { format: 'xlsx', name: 'large.xlsx', about: '100,000 rows', make: () => make.makeXlsx(100_000) },
  { format: 'pdf', name: 'large.pdf', about: '1,000 pages', make: () => make.makePdf(1_000) },
];

export interface BenchmarkResult {
  format: string;
  about: string;
  megabytes: number;
  seconds: number;
  megabytesPerSecond: number;
  /** Largest resident memory of the process that parsed it, its code included. */
  peakMb: number;
  elements: number;
}
