/**
 * The facts in a language model's reply: a JSON array of strings, an object that holds one, or one fact a line, fenced or not.
 * Undefined when the reply holds nothing like facts.
 */
export function readFacts(reply: string): string[] | undefined {
  const body = reply.replace(/<think>[\s\S]*?<\/think>/g, '').trim();
  const json = fromJson(body);
  if (json !== undefined) return tidy(json);
  if (/^\s*(?:```\w*\s*)?[[{]/.test(body)) return undefined;
  const lines = body.split('\n').map((line) => line.trim());
  const listed = lines.filter((line) => MARKER.test(line));
  const facts = tidy((listed.length > 0 ? listed : lines).map((line) => line.replace(MARKER, '')));
  return facts.length > 0 ? facts : undefined;
}

const MARKER = /^(?:[-*•]|\d{1,3}[.)])\s+/;

function fromJson(body: string): string[] | undefined {
  const start = body.search(/[[{]/);
  const end = Math.max(body.lastIndexOf(']'), body.lastIndexOf('}'));
  if (start < 0 || end <= start) return undefined;
  try {
    return stringsIn(JSON.parse(body.slice(start, end + 1)));
  } catch {
    return undefined;
  }
}

/** The first list of texts in a JSON value; objects in it give their first text. */
function stringsIn(value: unknown): string[] | undefined {
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      if (typeof item === 'string') return [item];
      if (item === null || typeof item !== 'object') return [];
      const text = Object.values(item).find((member) => typeof member === 'string');
      return typeof text === 'string' ? [text] : [];
    });
  }
  if (value === null || typeof value !== 'object') return undefined;
  for (const member of Object.values(value)) {
    const found = stringsIn(member);
    if (found !== undefined) return found;
  }
  return undefined;
}

function tidy(facts: readonly string[]): string[] {
  return [...new Set(facts.map((fact) => fact.replace(/\s+/g, ' ').trim()))].filter((fact) => /[\p{L}\p{N}]/u.test(fact));
}
