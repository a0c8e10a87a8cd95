import { CODE_EXTENSIONS } from './code/languages.js';
import { FORMATS } from './formats.js';
import { limitsSchema, parserSettingsSchema } from './settings.js';

/** The text of docs/formats.md: what is read, how it is recognised, within which limits. Made from the registry and the settings. */
export function formatsPage(): string {
  const extensions = (format: string, own: readonly string[]): string =>
    format === 'code'
      ? `those of ${new Set(Object.values(CODE_EXTENSIONS)).size} languages, as \`.ts\`, \`.py\`, \`.toml\``
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

File type is detected from content first, then from the name. A type that is not listed is \`skipped\`
with \`unsupported_type\`. A file without text, such as a scanned PDF or a blank file, is \`empty\`.

| format | names | content | what is read |
|---|---|---|---|
${rows.join('\n')}

## Text and elements

For plain text, Markdown and the other markup languages, source code, SQL, JSON, YAML and XML the text
of the document is the text of the file, decoded and cleaned. The byte order mark and control characters are removed, line ends
become LF, and a lone surrogate becomes U+FFFD. Front matter stays in the text, but no element
covers it.

For the other formats the text is built from elements. A blank line separates elements; a line break
alone does where a page of a PDF ends within a sentence. Headings are plain lines, and lists have
one line per item. Tables are GitHub Markdown with one line per row, without a separator line where
there is no header. Everything visible is in an element, and \`text.slice(start, end)\` is the text of
the element.

## Encodings

The encoding is decided by the first of these that applies: a byte order mark, valid UTF-8, UTF-16
without a mark, what the document declares, the legacy encoding whose text looks most like a
language. Those are GB 18030, Big5, Shift_JIS, EUC-JP, EUC-KR, windows-1250 to 1256, windows-874,
KOI8-R, KOI8-U, CP866, ISO 8859-5 and Mac Roman. A doubtful guess carries the warning
\`encoding_guessed\`. The file is \`failed: encoding_unknown\` where every decoder would leave U+FFFD,
or where its UTF-8 has broken characters.

## Limits

| setting | default | meaning |
|---|---|---|
${limits.join('\n')}

A file beyond \`file_mb\` is \`skipped: too_large\`. The other limits give \`failed\` with
\`limit_exceeded\`, \`parse_timeout\` or \`parse_memory\`. Entities that an XML file declares are not
expanded, HTML fetches nothing, and names within archives are never used as paths.

## Settings

Of a source or a path rule, under \`parsers\`:

| setting | default |
|---|---|
${settings.join('\n')}
`;
}
