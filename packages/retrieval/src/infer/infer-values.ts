import type { Values } from './values.js';

/** Words that stand for a kind of document, in English, German, French and Spanish, without accents. */
const KINDS: Record<string, string> = {
  sre: 'uptime downtime availability outage outages incident incidents reliability slo sla latency verfugbarkeit ausfall disponibilite panne disponibilidad',
  incident: 'outage outages incidents storung ausfall panne incidente',
  invoice: 'bill bills billed billing invoices rechnung rechnungen facture factures factura facturas',
  contract: 'agreement agreements contracts vertrag vertrage contrat contrats contrato contratos',
  policy: 'policies richtlinie richtlinien politique politica directive',
  report: 'reports bericht berichte rapport rapports informe informes',
  manual: 'manuals handbook guide handbuch anleitung manuel manuales',
  minutes: 'protokoll protokolle proces-verbal acta actas',
  plan: 'plans plane planes roadmap',
  mail: 'mails email emails e-mail',
};
/** Words in the name of a type that say no more than that it is one. */
const GENERIC = new Set([
  'document',
  'documents',
  'doc',
  'docs',
  'file',
  'files',
  'report',
  'reports',
  'note',
  'notes',
  'page',
  'record',
]);
/** A word this short is a word of the language more often than a value. */
const SHORTEST = 3;

/**
 * Conditions on text fields whose values a question names: of one field the longest value. A value that is only meant ("uptime" means a
 * report on reliability) counts where none is named.
 */
export function inferValues(question: string, known: Values): Record<string, string> {
  const asked = wordsOf(question);
  const conditions: Record<string, string> = {};
  for (const [field, values] of known) {
    const words = [...values].map((value) => ({ value, words: wordsOf(value) }));
    const named = words.filter(({ words }) => names(asked, words) || (field === 'author' && isBy(asked, words)));
    const meant = field === 'doc_type' && named.length === 0 ? words.filter(({ words }) => meansType(asked, words)) : [];
    // Texts compare by their code points, so that equal questions infer equal filters.
    const [best] = [...named, ...meant].sort((a, b) => b.value.length - a.value.length || (a.value < b.value ? -1 : 1));
    if (best !== undefined) conditions[field] = best.value;
  }
  return conditions;
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** All words of a value stand in the question, one behind the other; the last may have a plural ending. */
function names(asked: readonly string[], words: readonly string[]): boolean {
  if (words.length === 0 || words.join('').length < SHORTEST) return false;
  return asked.some((_, from) =>
    words.every((word, at) => {
      const said = asked[from + at];
      return said === word || (at === words.length - 1 && said !== undefined && isPlural(said, word));
    }),
  );
}

function isPlural(said: string, word: string): boolean {
  return said === `${word}s` || said === `${word}es` || (word.endsWith('y') && said === `${word.slice(0, -1)}ies`);
}

/** Each word of a type's name that says something stands in the question, or a word that means it. */
function meansType(asked: readonly string[], words: readonly string[]): boolean {
  const telling = words.filter((word) => !GENERIC.has(word));
  const wanted = telling.length > 0 ? telling : words;
  if (wanted.length === 0) return false;
  return wanted.every((word) => {
    const meaning = (KINDS[word] ?? '').split(' ');
    return asked.some((said) => said === word || isPlural(said, word) || (said.length >= SHORTEST && meaning.includes(said)));
  });
}

/** "by Lovelace" names Ada Lovelace. */
function isBy(asked: readonly string[], words: readonly string[]): boolean {
  const last = words.at(-1);
  if (last === undefined || last.length < SHORTEST) return false;
  return asked.some((said, at) => said === last && /^(?:by|from|von|par|por|de)$/.test(asked[at - 1] ?? ''));
}
