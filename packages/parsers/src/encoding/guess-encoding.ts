import iconv from 'iconv-lite';
import { scoreCjk, scoreCyrillic, scoreLatin, scoreScript } from './plausibility.js';

export interface EncodingGuess {
  text: string;
  encoding: string;
  /** The runner-up explains the bytes nearly as well, or nothing explains them well. */
  doubtful: boolean;
}

/** Bytes over which candidates are compared; the winner must then explain all of them. */
const SAMPLE = 32 * 1024;

interface Candidate {
  encoding: string;
  /** 0..1: how much the decoded text looks like text in this encoding's languages. */
  score: (text: string) => number;
}

const CANDIDATES: readonly Candidate[] = [
  { encoding: 'gb18030', score: (text) => scoreCjk(text, 'simplified') },
  { encoding: 'big5', score: (text) => scoreCjk(text, 'traditional') },
  { encoding: 'shift_jis', score: (text) => scoreCjk(text, 'japanese') },
  { encoding: 'euc-jp', score: (text) => scoreCjk(text, 'japanese') },
  { encoding: 'euc-kr', score: (text) => scoreCjk(text, 'korean') },
  { encoding: 'utf-16le', score: (text) => Math.max(...CJK.map((language) => scoreCjk(text, language))) },
  { encoding: 'utf-16be', score: (text) => Math.max(...CJK.map((language) => scoreCjk(text, language))) },
  { encoding: 'windows-1251', score: scoreCyrillic },
  { encoding: 'koi8-r', score: scoreCyrillic },
  { encoding: 'koi8-u', score: scoreCyrillic },
  { encoding: 'cp866', score: scoreCyrillic },
  { encoding: 'iso-8859-5', score: scoreCyrillic },
  { encoding: 'windows-1253', score: (text) => scoreScript(text, 'greek') },
  { encoding: 'windows-1255', score: (text) => scoreScript(text, 'hebrew') },
  { encoding: 'windows-1256', score: (text) => scoreScript(text, 'arabic') },
  { encoding: 'windows-874', score: (text) => scoreScript(text, 'thai') },
  { encoding: 'windows-1252', score: (text) => scoreLatin(text, 'western') },
  { encoding: 'windows-1250', score: (text) => scoreLatin(text, 'central') },
  { encoding: 'windows-1254', score: (text) => scoreLatin(text, 'turkish') },
  { encoding: 'macintosh', score: (text) => scoreLatin(text, 'western') * 0.9 },
];

const CJK = ['simplified', 'traditional', 'japanese', 'korean'] as const;

/** Below this a guess is called doubtful whatever the others say. */
const SURE = 0.75;
/** Below this nothing is said to explain the bytes. */
const POSSIBLE = 0.3;
/** By how much the best must lead. */
const LEAD = 0.15;

/** The legacy encoding whose text looks most like a language; undefined when none explains the bytes. */
export function guessEncoding(bytes: Uint8Array): EncodingGuess | undefined {
  const sample = sampleOf(bytes);
  const ranked = CANDIDATES.map(({ encoding, score }) => {
    const text = decode(sample, encoding);
    return { encoding, sample: text, score: text === undefined ? 0 : score(text) };
  }).sort((a, b) => b.score - a.score);
  for (const [rank, { encoding, sample: read, score }] of ranked.entries()) {
    if (score < POSSIBLE) return undefined;
    const text = decode(bytes, encoding);
    if (text === undefined) continue;
    // The two KOI8 encodings differ in eight letters: where they give the same text they are no rivals.
    const second =
      ranked.slice(rank + 1).find((other) => other.sample !== read || !other.encoding.startsWith('koi8'))?.score ?? 0;
    return { text, encoding, doubtful: rank > 0 || score < SURE || score - second < LEAD };
  }
  return undefined;
}

/** Whole lines from the beginning, so that no character is cut. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= SAMPLE) return bytes;
  const end = bytes.lastIndexOf(0x0a, SAMPLE);
  return bytes.subarray(0, end > 0 ? end + 1 : SAMPLE);
}

/** Undefined when a byte has no meaning in this encoding. */
function decode(bytes: Uint8Array, encoding: string): string | undefined {
  if (encoding.startsWith('utf-16') && bytes.length % 2 !== 0) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = iconv.decode(buffer, encoding);
  return text.includes('\ufffd') ? undefined : text;
}
