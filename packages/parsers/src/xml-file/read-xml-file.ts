import { Parser } from 'htmlparser2';
import { closeContainer, type DataMember, type DataNode, NO_MEMBERS } from '../data/data-elements.js';

/** Attributes up to this long say which element it is. */
const MAX_ATTRIBUTE = 80;
const MAX_ATTRIBUTES = 6;

interface OpenElement {
  name: string;
  label: string | undefined;
  /** Of its opening tag, and of what is in it. */
  start: number;
  inside: number;
  members: DataMember[];
}

/**
 * The elements of an XML file with their places. Elements whose text is parted by others, as in prose, and those below the limit of depth
 * are wholes. What is not well formed is closed where its parent ends.
 */
export function readXmlFile(text: string, maxDepth: number): DataNode {
  const open: OpenElement[] = [{ name: '', label: undefined, start: 0, inside: 0, members: [] }];
  let tooDeep = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (open.length > maxDepth) {
          tooDeep++;
          return;
        }
        open.push({ name, label: labelOf(attributes), start: parser.startIndex, inside: parser.endIndex + 1, members: [] });
      },
      onclosetag() {
        if (tooDeep > 0) {
          tooDeep--;
          return;
        }
        const element = open.length > 1 ? open.pop() : undefined;
        if (element === undefined) return;
        // An element that closes itself has nothing in it; one that is closed with its parent ends before the parent's tag.
        const inner = Math.max(element.inside, Math.min(parser.startIndex, text.length));
        const isClosedItself = text.startsWith(`</${element.name}`, parser.startIndex) || inner === element.inside;
        const end = isClosedItself ? Math.max(inner, parser.endIndex + 1) : inner;
        open.at(-1)?.members.push({ key: element.name, start: element.start, value: nodeOf(text, element, inner, end) });
      },
    },
    { xmlMode: true, decodeEntities: false },
  );
  parser.write(text);
  parser.end();
  const members = open[0]?.members ?? [];
  return closeContainer({ kind: 'object', start: 0, end: text.length, members, hasRecords: false });
}

function nodeOf(text: string, element: OpenElement, inner: number, end: number): DataNode {
  const { members, inside, start, label } = element;
  if (members.length === 0) return { kind: 'scalar', start: inside, end: inner, members: NO_MEMBERS, hasRecords: false };
  const node: DataNode = {
    kind: isList(members) ? 'array' : 'object',
    start,
    end,
    members: isProse(text, members, inside, inner) ? [] : members,
    hasRecords: false,
    ...(label === undefined ? {} : { label }),
  };
  return closeContainer(node);
}

/** Several elements of one name that hold others are the records of a list. */
function isList(members: readonly DataMember[]): boolean {
  const [first] = members;
  return members.length > 1 && members.every(({ key, value }) => key === first?.key && value.kind !== 'scalar');
}

/** Text between elements means that they are marks within it. */
function isProse(text: string, members: readonly DataMember[], inside: number, inner: number): boolean {
  let at = inside;
  for (const { start, value } of members) {
    if (hasWords(text, at, start)) return true;
    at = text.indexOf('>', value.end - 1) + 1 || inner;
  }
  return hasWords(text, at, inner);
}

function hasWords(text: string, start: number, end: number): boolean {
  return end > start && /[\p{L}\p{N}]/u.test(text.slice(start, end).replace(/<[!?][^>]*>/g, ''));
}

function labelOf(attributes: Readonly<Record<string, string>>): string | undefined {
  const labels = Object.entries(attributes)
    .filter(([name, value]) => !name.startsWith('xmlns') && value !== '' && value.length <= MAX_ATTRIBUTE)
    .slice(0, MAX_ATTRIBUTES)
    .map(([name, value]) => `${name}: ${xmlValue(value)}`);
  return labels.length === 0 ? undefined : labels.join(', ');
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Text without its tags, with the five signs that XML escapes. */
export function xmlValue(source: string): string {
  return source
    .replace(/<!\[CDATA\[|\]\]>/g, '')
    .replace(/&(amp|lt|gt|quot|apos);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/\s+/g, ' ')
    .trim();
}
