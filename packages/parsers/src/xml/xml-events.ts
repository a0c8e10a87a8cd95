import { TextDecoder } from 'node:util';
import { type ParseLimits, SluiceError } from '@sluice/core';
import { SaxesParser } from 'saxes';
import { depthExceeded } from '../limits.js';

export interface XmlNode {
  /** Without its prefix. */
  name: string;
  /** By full name, prefix included. */
  attributes: Readonly<Record<string, string>>;
  children: (XmlNode | string)[];
}

export type XmlEvent =
  | { type: 'open'; name: string; attributes: Readonly<Record<string, string>> }
  | { type: 'close'; name: string }
  /** A whole subtree. */
  | { type: 'node'; node: XmlNode };

/** Nodes of one subtree. A subtree is a paragraph or a row: more means that the file was made to fill memory. */
const MAX_NODES = 2_000_000;

/**
 * Reads XML as a stream: elements whose name is cut out come as whole subtrees, those around them as they open and close. Text
 * outside of subtrees is passed over. No DTD is read: entities other than the five of XML are an error, so that nothing expands
 * and nothing is loaded.
 *
 * @throws SluiceError `corrupt`, `limit_exceeded` (depth, size of a subtree)
 */
export async function* xmlEvents(
  pieces: AsyncIterable<Uint8Array>,
  cut: (name: string) => boolean,
  limits: ParseLimits,
): AsyncGenerator<XmlEvent> {
  let events: XmlEvent[] = [];
  const stack: XmlNode[] = [];
  let depth = 0;
  let nodes = 0;
  const parser = new SaxesParser({ xmlns: false, position: false });
  parser.on('error', (error) => {
    throw new SluiceError('corrupt', 'its XML is damaged', { cause: error });
  });
  parser.on('doctype', () => {
    throw new SluiceError('corrupt', 'its XML brings a document type of its own, which office files may not');
  });
  parser.on('opentag', (tag) => {
    if (++depth > limits.depth) throw depthExceeded(limits);
    const name = localName(tag.name);
    const parent = stack.at(-1);
    if (parent === undefined && !cut(name)) {
      events.push({ type: 'open', name, attributes: tag.attributes });
      return;
    }
    if (++nodes > MAX_NODES) throw new SluiceError('limit_exceeded', 'one paragraph or row has millions of parts');
    const node: XmlNode = { name, attributes: tag.attributes, children: [] };
    parent?.children.push(node);
    stack.push(node);
  });
  parser.on('text', (text) => {
    stack.at(-1)?.children.push(text);
  });
  parser.on('cdata', (text) => {
    stack.at(-1)?.children.push(text);
  });
  parser.on('closetag', (tag) => {
    depth--;
    const node = stack.pop();
    if (node === undefined) events.push({ type: 'close', name: localName(tag.name) });
    else if (stack.length === 0) {
      events.push({ type: 'node', node });
      nodes = 0;
    }
  });
  for await (const text of decodeXml(pieces)) {
    parser.write(text);
    if (events.length === 0) continue;
    const ready = events;
    events = [];
    yield* ready;
  }
  parser.close();
  yield* events;
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}

/** UTF-8, or UTF-16 with its mark: what XML without a declared encoding may be in. */
async function* decodeXml(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    decoder ??= new TextDecoder(piece[0] === 0xff ? 'utf-16le' : piece[0] === 0xfe ? 'utf-16be' : 'utf-8');
    // Large pieces are taken in parts, so that events do not pile up.
    for (let at = 0; at < piece.length; at += 65_536) yield decoder.decode(piece.subarray(at, at + 65_536), { stream: true });
  }
  if (decoder !== undefined) yield decoder.decode();
}

/** A whole XML file as one tree; for small parts only. */
export async function readXml(pieces: AsyncIterable<Uint8Array>, limits: ParseLimits): Promise<XmlNode | undefined> {
  for await (const event of xmlEvents(pieces, () => true, limits)) if (event.type === 'node') return event.node;
  return undefined;
}
