import { eld } from 'eld/small';

const SAMPLE = 2_000;

/** Text that says nothing of a language: addresses, numbers, marks. */
const NOISE = /https?:\/\/\S+|\S{1,64}@\S{1,255}|[\d|#*_`~<>=+/\\-]+/g;

/**
 * ISO 639-1 code of a text's language, where it is plain; undefined for short or mixed text. Long texts are judged by samples from
 * their beginning, middle and end.
 */
export function detectLanguage(text: string): string | undefined {
  const sample = (text.length <= 3 * SAMPLE ? text : samplesOf(text)).replace(NOISE, ' ');
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  if (letters < 8) return undefined;
  const byScript = languageOfScript(sample, letters);
  if (byScript !== undefined) return byScript;
  if (letters < 24) return undefined;
  const result = eld.detect(sample);
  return result.language !== '' && result.isReliable() ? result.language : undefined;
}

function samplesOf(text: string): string {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, SAMPLE), text.slice(middle, middle + SAMPLE), text.slice(-SAMPLE)].join('\n');
}

/** Scripts that one language alone uses decide by themselves, also for few letters. */
function languageOfScript(sample: string, letters: number): string | undefined {
  const share = (pattern: RegExp): number => (sample.match(pattern)?.length ?? 0) / letters;
  const han = share(/\p{Script=Han}/gu);
  const kana = share(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  if (kana > 0.08 && kana + han > 0.5) return 'ja';
  if (share(/\p{Script=Hangul}/gu) > 0.4) return 'ko';
  if (han > 0.5) return 'zh';
  if (share(/\p{Script=Thai}/gu) > 0.5) return 'th';
  if (share(/\p{Script=Greek}/gu) > 0.5) return 'el';
  return undefined;
}
