import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ParsedDocument, ParseInput } from '@sluice/core';
import { createParserRegistry } from '../src/registry.js';
import { defaultParseLimits } from '../src/settings.js';

const registry = createParserRegistry();

/** The bytes of a file in test/fixtures. */
export function fixture(name: string): Uint8Array {
  return new Uint8Array(readFileSync(fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))));
}

/** Parses content (text is UTF-8) as a file of this name, within the default limits. */
export function parseAs(name: string, content: Uint8Array | string, options: Partial<ParseInput> = {}): Promise<ParsedDocument> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return registry.parse({ name, bytes, limits: defaultParseLimits, ...options });
}

/** Parses a fixture under its own name. */
export function parseFixture(name: string, options: Partial<ParseInput> = {}): Promise<ParsedDocument> {
  return parseAs(name, fixture(name), options);
}
