/** Control characters that parsers remove from every text. */
const REMOVED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/**
 * The text of bytes that hold or begin with YAML, cleaned and with line ends LF, as parsers see it. A byte order mark, else the zero
 * bytes beside the first ASCII character, tell the encoding (YAML 1.2.2, section 5.2); the default is UTF-8.
 */
export function decodeYamlBytes(bytes: Uint8Array): string {
  return decode(bytes)
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .replace(REMOVED, '');
}

function decode(bytes: Uint8Array): string {
  const [a = 1, b = 1, c = 1, d = 1] = bytes;
  if (a === 0 && b === 0 && (c === 0 || (c === 0xfe && d === 0xff))) return decodeUtf32(bytes, false);
  if (c === 0 && d === 0 && ((a === 0xff && b === 0xfe) || b === 0)) return decodeUtf32(bytes, true);
  if ((a === 0xfe && b === 0xff) || a === 0) return new TextDecoder('utf-16be').decode(bytes);
  if ((a === 0xff && b === 0xfe) || b === 0) return new TextDecoder('utf-16le').decode(bytes);
  return new TextDecoder('utf-8').decode(bytes);
}

function decodeUtf32(bytes: Uint8Array, littleEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const characters: string[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const point = view.getUint32(at, littleEndian);
    characters.push(point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? String.fromCodePoint(point) : '\ufffd');
  }
  return characters.join('');
}
