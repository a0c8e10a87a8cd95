import { type ParseInput, type ParseLimits, type SelfMetadata, SluiceError } from '@sluice/core';
import { oneLine } from '../clean-text.js';
import { readXml, type XmlEvent, type XmlNode, xmlEvents } from '../xml/xml-events.js';
import { attribute, child, childNodes, textContent } from '../xml/xml-node.js';
import { openZip, type ZipArchive } from '../zip/zip-archive.js';

export interface Relationship {
  /** The last word of its type, as `slide`. */
  type: string;
  /** Name of the part in the archive; undefined for a target outside, which is never read. */
  part: string | undefined;
}

/** An office file (ECMA-376 part 2): parts in a zip archive, tied together by relationships. */
export interface OfficePackage {
  readonly archive: ZipArchive;
  /** Name of the main part. */
  readonly mainPart: string;
  /** A small part as a tree; undefined when it is missing. */
  tree(part: string | undefined): Promise<XmlNode | undefined>;
  /** A large part as a stream; nothing when it is missing. */
  events(part: string | undefined, cut: (name: string) => boolean): AsyncGenerator<XmlEvent>;
  relationships(part: string): Promise<Map<string, Relationship>>;
  metadata(): Promise<SelfMetadata>;
}

export async function openPackage(input: ParseInput): Promise<OfficePackage> {
  const { limits } = input;
  const archive = openZip(input.bytes, limits);
  const relationships = (part: string): Promise<Map<string, Relationship>> => readRelationships(archive, part, limits);
  const tree = async (part: string | undefined): Promise<XmlNode | undefined> => {
    const pieces = part === undefined ? undefined : archive.open(part);
    return pieces === undefined ? undefined : readXml(pieces, limits);
  };
  const roots = await relationships('');
  const mainPart = [...roots.values()].find((relationship) => relationship.type === 'officeDocument')?.part;
  if (mainPart === undefined || !archive.has(mainPart)) throw new SluiceError('corrupt', `${input.name} lacks its main part`);
  return {
    archive,
    mainPart,
    tree,
    async *events(part, cut) {
      const pieces = part === undefined ? undefined : archive.open(part);
      if (pieces !== undefined) yield* xmlEvents(pieces, cut, limits);
    },
    relationships,
    metadata: async () => {
      const part = [...roots.values()].find((relationship) => relationship.type === 'core-properties')?.part;
      return readProperties(await tree(part ?? 'docProps/core.xml'));
    },
  };
}

async function readRelationships(archive: ZipArchive, part: string, limits: ParseLimits): Promise<Map<string, Relationship>> {
  const slash = part.lastIndexOf('/');
  const folder = part.slice(0, slash + 1);
  const pieces = archive.open(`${folder}_rels/${part.slice(slash + 1)}.rels`);
  const root = pieces === undefined ? undefined : await readXml(pieces, limits);
  const found = new Map<string, Relationship>();
  for (const node of childNodes(root, 'Relationship')) {
    const { Id: id, Type: type, Target: target, TargetMode: mode } = node.attributes;
    if (id === undefined || type === undefined || target === undefined) continue;
    found.set(id, {
      type: type.slice(type.lastIndexOf('/') + 1),
      part: mode === 'External' ? undefined : resolvePart(folder, target),
    });
  }
  return found;
}

/** Name of a part from a target relative to a folder. Steps above the archive's root are dropped: there is nothing there. */
function resolvePart(folder: string, target: string): string {
  const steps: string[] = [];
  for (const step of (target.startsWith('/') ? target : `${folder}${target}`).split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}

/** Title, author, date, keywords and language of docProps/core.xml. */
function readProperties(root: XmlNode | undefined): SelfMetadata {
  const value = (name: string): string => oneLine(textContent(child(root, name)));
  const metadata: SelfMetadata = {};
  if (value('title') !== '') metadata.doc_title = value('title');
  if (value('creator') !== '') metadata.author = value('creator');
  if (/^\d{4}-\d\d-\d\dT/.test(value('created'))) metadata.created_at = value('created');
  const tags = value('keywords')
    .split(/[,;]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (tags.length > 0) metadata.tags = tags;
  if (value('category') !== '') metadata.category = value('category');
  if (value('version') !== '') metadata.version = value('version');
  return metadata;
}

/** True when a toggle property is on: present without a value that says no. */
export function isOn(node: XmlNode | undefined): boolean {
  if (node === undefined) return false;
  const value = attribute(node, 'val');
  return value === undefined || !['0', 'false', 'off', 'none'].includes(value);
}
