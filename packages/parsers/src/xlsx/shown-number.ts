/** A number format that a number is written by as the program shows it, parsed once for each style. */
export interface ShownFormat {
  sections: Section[];
}

interface Section {
  /** `[>=1000]`, where the section has a condition of its own. */
  condition?: { operator: string; value: number };
  tokens: Token[];
}

type Token =
  | { kind: 'text'; text: string }
  | { kind: 'digit'; sign: '0' | '#' | '?' }
  | { kind: 'point' | 'comma' | 'percent' | 'general' | 'at' };

const TOKEN =
  /"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[(<=|>=|<>|<|>|=)(-?[\d.]+)\]|\[[^\]]*\]|general|[0#?.,%@]|e[+-]|[\s\S]/giu;
/** What stands before a digit or behind it says something: a letter, a digit, a sign of a currency. */
const SAYS = /[\p{L}\p{N}\p{Sc}#№°&/%‰]/u;

/**
 * A format of numbers that shows more than the number: leading zeros, words, currency signs, digits in groups as of phone numbers.
 * Undefined for all other formats, whose numbers are set down as they are; for exponents and fractions too.
 */
export function shownFormatOf(code: string): ShownFormat | undefined {
  const sections = splitSections(code).map(parseSection);
  const first = sections[0];
  if (first === undefined || sections.some((section) => section === undefined)) return undefined;
  const whole = sections.filter((section) => section !== undefined);
  return whole.some(({ tokens }) => showsMore(tokens)) ? { sections: whole } : undefined;
}

/** Semicolons part sections, but not within quotes. */
function splitSections(code: string): string[] {
  return code.match(/(?:"[^"]*"|\\.|[^;"\\])+|(?<=;)(?=;|$)|^(?=;)/gs) ?? [];
}

function parseSection(code: string): Section | undefined {
  const section: Section = { tokens: [] };
  for (const match of code.matchAll(TOKEN)) {
    const [whole, quoted, escaped, currency, operator, value] = match;
    if (quoted !== undefined || escaped !== undefined || currency !== undefined)
      section.tokens.push({ kind: 'text', text: quoted ?? escaped ?? currency ?? '' });
    else if (operator !== undefined) section.condition = { operator, value: Number(value) };
    else if (whole.startsWith('_')) section.tokens.push({ kind: 'text', text: ' ' });
    else if (whole.startsWith('*') || whole.startsWith('[')) continue;
    else if (/^e[+-]$/i.test(whole)) return undefined;
    else if (/^general$/i.test(whole)) section.tokens.push({ kind: 'general' });
    else section.tokens.push(tokenOf(whole));
  }
  const slash = section.tokens.some(
    (token, index) => token.kind === 'text' && token.text === '/' && section.tokens[index + 1]?.kind === 'digit',
  );
  return slash && section.tokens.some(({ kind }) => kind === 'digit') ? undefined : section;
}

function tokenOf(char: string): Token {
  switch (char) {
    case '0':
    case '#':
    case '?':
      return { kind: 'digit', sign: char };
    case '.':
      return { kind: 'point' };
    case ',':
      return { kind: 'comma' };
    case '%':
      return { kind: 'percent' };
    case '@':
      return { kind: 'at' };
    default:
      return { kind: 'text', text: char };
  }
}

function showsMore(tokens: readonly Token[]): boolean {
  if (tokens.some((token) => token.kind === 'text' && SAYS.test(token.text))) return true;
  const point = tokens.findIndex(({ kind }) => kind === 'point');
  const whole = point < 0 ? tokens : tokens.slice(0, point);
  if (whole.filter((token) => token.kind === 'digit' && token.sign === '0').length > 1) return true;
  const digits = whole.flatMap((token, index) => (token.kind === 'digit' ? [index] : []));
  return whole.slice(digits[0], digits.at(-1)).some((token) => token.kind === 'text' && token.text.trim() !== '');
}

/** The number as its format shows it; undefined where the format shows nothing. */
export function showNumber(value: number, format: ShownFormat): string | undefined {
  const { section, size } = chooseSection(value, format.sections);
  if (section === undefined) return undefined;
  const shown = writeSection(section.tokens, size).replace(/\s+/g, ' ').trim();
  return shown === '' ? undefined : shown;
}

/** Text as its format shows it: the fourth section, or one with `@`. */
export function showText(text: string, format: ShownFormat): string {
  const section = format.sections[3] ?? format.sections.find(({ tokens }) => tokens.some(({ kind }) => kind === 'at'));
  if (section === undefined || !section.tokens.some(({ kind }) => kind === 'at')) return text;
  return section.tokens
    .map((token) => (token.kind === 'at' ? text : token.kind === 'text' ? token.text : ''))
    .join('')
    .trim();
}

/** By conditions, else positive; negative; zero (ECMA-376 part 1, 18.8.31). A section for negative numbers shows their size. */
function chooseSection(value: number, sections: readonly Section[]): { section: Section | undefined; size: number } {
  const [first, second, third] = sections;
  if (first?.condition !== undefined) {
    const fits = sections.find(({ condition }) => condition === undefined || holds(value, condition));
    return { section: fits, size: value };
  }
  if (value < 0 && second !== undefined) return { section: second, size: -value };
  if (value === 0 && third !== undefined) return { section: third, size: 0 };
  return { section: first, size: value };
}

function holds(value: number, { operator, value: bound }: { operator: string; value: number }): boolean {
  switch (operator) {
    case '<':
      return value < bound;
    case '<=':
      return value <= bound;
    case '>':
      return value > bound;
    case '>=':
      return value >= bound;
    case '<>':
      return value !== bound;
    default:
      return value === bound;
  }
}

function writeSection(tokens: readonly Token[], value: number): string {
  const digits = tokens.filter(({ kind }) => kind === 'digit').length;
  if (tokens.some(isWhole)) {
    const plain = String(Number(Math.abs(value).toPrecision(15)));
    return signed(value, tokens.map((token) => (token.kind === 'text' ? token.text : isWhole(token) ? plain : '')).join(''));
  }
  if (digits === 0)
    return tokens.map((token) => (token.kind === 'text' ? token.text : token.kind === 'percent' ? '%' : '')).join('');
  const lastDigit = tokens.findLastIndex(({ kind }) => kind === 'digit');
  const firstDigit = tokens.findIndex(({ kind }) => kind === 'digit');
  const point = tokens.findIndex(({ kind }) => kind === 'point');
  const wholeEnd = point < 0 ? lastDigit + 1 : point;
  const scale = tokens.slice(lastDigit + 1).filter(({ kind }) => kind === 'comma').length;
  const grouped = tokens.slice(firstDigit, wholeEnd).some(({ kind }) => kind === 'comma');
  const percent = tokens.some(({ kind }) => kind === 'percent');
  const places = tokens.slice(wholeEnd).filter(({ kind }) => kind === 'digit').length;
  const size = (Math.abs(value) / 1000 ** scale) * (percent ? 100 : 1);
  const [whole = '', decimals = ''] = Number(size.toPrecision(15)).toFixed(Math.min(places, 30)).split('.');
  const head = writeWhole(tokens.slice(0, wholeEnd), whole === '0' ? '' : whole, grouped);
  const tail = writeDecimals(tokens.slice(wholeEnd), decimals);
  return signed(Number(`${whole}.${decimals}`) === 0 ? 0 : value, head + tail);
}

/** Stands for the value as it is. */
const isWhole = ({ kind }: Token): boolean => kind === 'general' || kind === 'at';

function signed(value: number, text: string): string {
  return value < 0 ? `-${text.trimStart()}` : text;
}

/** Digits from the right into their places; those without a place stand before the first one. */
function writeWhole(tokens: readonly Token[], digits: string, grouped: boolean): string {
  const pieces: string[] = [];
  let left = digits.length;
  let written = 0;
  let places = tokens.filter(({ kind }) => kind === 'digit').length;
  const put = (digit: string): void => {
    pieces.push(grouped && written > 0 && written % 3 === 0 ? `${digit},` : digit);
    written++;
  };
  for (const token of tokens.toReversed()) {
    if (token.kind === 'text') pieces.push(token.text);
    else if (token.kind === 'percent') pieces.push('%');
    if (token.kind !== 'digit') continue;
    places--;
    if (left > 0) put(digits.charAt(--left));
    else if (token.sign === '0') put('0');
    while (places === 0 && left > 0) put(digits.charAt(--left));
  }
  return pieces.reverse().join('');
}

function writeDecimals(tokens: readonly Token[], decimals: string): string {
  const signs = tokens.flatMap((token) => (token.kind === 'digit' ? [token.sign] : []));
  let shown = decimals.length;
  while (shown > 0 && signs[shown - 1] !== '0' && decimals.charAt(shown - 1) === '0') shown--;
  let at = 0;
  return tokens
    .map((token) => {
      if (token.kind === 'text') return token.text;
      if (token.kind === 'percent') return '%';
      if (token.kind === 'point') return shown > 0 ? '.' : '';
      return token.kind === 'digit' && at < shown ? decimals.charAt(at++) : '';
    })
    .join('');
}
