import type { XmlNode } from './xml-events.js';

/** The first child of this name. */
export function child(node: XmlNode | undefined, name: string): XmlNode | undefined {
  return node?.children.find((candidate): candidate is XmlNode => typeof candidate !== 'string' && candidate.name === name);
}

/** The children that are elements, all or those of one name. */
export function childNodes(node: XmlNode | undefined, name?: string): XmlNode[] {
  return (node?.children ?? []).filter(
    (candidate): candidate is XmlNode => typeof candidate !== 'string' && (name === undefined || candidate.name === name),
  );
}

/** A node further down, by the names on the way. */
export function descend(node: XmlNode | undefined, ...names: string[]): XmlNode | undefined {
  return names.reduce<XmlNode | undefined>((at, name) => child(at, name), node);
}

/** An attribute by its local name: the one without prefix first, then one with any. */
export function attribute(node: XmlNode | undefined, name: string): string | undefined {
  return node === undefined ? undefined : attributeOf(node.attributes, name);
}

export function attributeOf(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  const plain = attributes[name];
  if (plain !== undefined) return plain;
  const suffix = `:${name}`;
  for (const key in attributes) if (key.endsWith(suffix)) return attributes[key];
  return undefined;
}

/** The id of a relationship: the attribute `r:id`, whatever the prefix is. */
export function relationshipId(node: XmlNode, name = 'id'): string | undefined {
  return relationshipIdOf(node.attributes, name);
}

export function relationshipIdOf(attributes: Readonly<Record<string, string>>, name = 'id'): string | undefined {
  const suffix = `:${name}`;
  for (const key in attributes) if (key.endsWith(suffix)) return attributes[key];
  return undefined;
}

/** All text under a node. */
export function textContent(node: XmlNode | string | undefined): string {
  if (node === undefined) return '';
  return typeof node === 'string' ? node : node.children.map(textContent).join('');
}
