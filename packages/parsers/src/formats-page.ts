import { CODE_EXTENSIONS } from './code/languages.js';
import { FORMATS } from './formats.js';
import { limitsSchema, parserSettingsSchema } from './settings.js';

/** The text of docs/formats.md: what is read, how it is recognised, within which limits. Made from the registry and the settings. */
export function formatsPage(): string {
  const extensions = (format: string, own: readonly string[]): string =>
    format === 'code'
      ? `those of ${new Set(Object.values(CODE_EXTENSIONS)).size} languages, as \`.ts\`, \`.py\`, \`.yaml\``
      : own.map((name) => `\`.${name}\``).join(' ') || '-';
  const rows = FORMATS.map(
    ({ format, title, extensions: own, content, reads }) =>
      `| ${title} (\`${format}\`) | ${extensions(format, own)} | ${content} | ${reads} |`,
  );
  const limits = Object.entries(limitsSchema.parse({})).map(
    ([name, value]) =>
      `| \`limits.${name}\` | ${value} | ${limitsSchema.shape[name as keyof typeof limitsSchema.shape].description ?? ''} |`,
  );
  const settings = Object.entries(parserSettingsSchema.parse({})).flatMap(([format, own]) =>
    Object.entries(own).map(([name, value]) => `| \`${format}.${name}\` | \`${String(value)}\` |`),
  );
  return `# Formats

<!-- Made from packages/parsers/src/formats.ts by \`npm run formats\`; a test compares. -->

The type of a file is told by its content first, then by its name. What is not listed is \`skipped\` with \`unsupported_type\`; a file without
text, as a scanned PDF or a blank file, is \`empty\`.

| format | names | content | what is read |
|---|---|---|---|
${rows.join('\n')}

## Text and elements

For plain text, Markdown, source code, SQL, JSON and JSON Lines the text of the document is the file's, decoded and cleaned: the byte order mark
goes, line ends become LF, control characters go, a lone surrogate becomes U+FFFD. Front matter stays in the text, but no element covers it.
For the others the text is built: elements are parted by a blank line (by a line break alone where a page of a PDF ends within a
sentence), headings are plain lines, lists have a line an item, tables are GitHub Markdown with one line a row, and rows without a
separator line where there is no header. Everything visible lies in an element, and \`text.slice(start, end)\` is the element's text.

## Encodings

A byte order mark decides, then valid UTF-8, then UTF-16 without a mark, then what the document declares, then the legacy encoding whose
text looks most like a language: GB 18030, Big5, Shift_JIS, EUC-JP, EUC-KR, windows-1250 to 1256, windows-874, KOI8-R, CP866, ISO 8859-5, Mac Roman.
A doubtful guess carries the warning \`encoding_guessed\`. Where every decoder would leave U+FFFD, and where UTF-8 has broken characters in it, the
file is \`failed: encoding_unknown\`.

## Limits

| setting | default | meaning |
|---|---|---|
${limits.join('\n')}

A file beyond \`file_mb\` is \`failed: too_large\`; the others give \`limit_exceeded\`, \`parse_timeout\` and \`parse_memory\`. XML brings no entities of its own, HTML
fetches nothing, and names within archives are never used as paths.

## Settings

Of a source or a path rule, under \`parsers\`:

| setting | default |
|---|---|
${settings.join('\n')}
`;
}
