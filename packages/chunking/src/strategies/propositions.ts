import { type Chunk, type DroppedFact, hashOf, type Llm, type LlmUsage, SluiceError } from '@sluice/core';
import { type Layout, leadOf, resizeLayout } from '../layout/context.js';
import { factsOf, finishPiece, type Piece } from '../layout/finish.js';
import { cutBlock, cutToSize, stretchesOf } from '../layout/units.js';
import { checkFact } from '../propositions/check-fact.js';
import { createFactCache, type FactCache } from '../propositions/fact-cache.js';
import { factMessages, readPrompt } from '../propositions/prompt.js';
import { readFacts } from '../propositions/read-facts.js';
import type { SettingsOf } from '../settings.js';
import { edgeAfter, edgeBefore, isGraphemeEdge } from '../text/graphemes.js';
import { mapInOrder } from '../text/map-in-order.js';
import { cutSections } from './recursive.js';
import type { ChunkingStrategy, StrategyDeps } from './strategy.js';

/** A model that answers nothing usable is asked this often. */
const ATTEMPTS = 2;

/**
 * A language model rewrites each passage into self-contained facts; facts that their passage does not bear out are dropped and kept
 * for a human to see. Code is embedded as it stands, and so is a passage of which no fact is left.
 */
export const propositions: ChunkingStrategy<'propositions'> = {
  version: 1,
  cut(layout, settings, deps) {
    const { llm } = deps;
    if (llm === undefined) {
      throw new SluiceError(
        'llm_not_configured',
        'chunking.strategy: propositions needs a language model: set llm.base_url and llm.model',
      );
    }
    const dropped: DroppedFact[] = [];
    const usage: LlmUsage = { calls: 0, cached: 0, prompt_tokens: 0, completion_tokens: 0 };
    const ask = createAsker(llm, readPrompt(settings.prompt_file), deps, usage);
    return { chunks: cutFacts(layout, settings, ask, dropped), dropped, usage };
  },
};

type Ask = (headings: string[], passage: string) => Promise<string[]>;

async function* cutFacts(layout: Layout, settings: SettingsOf<'propositions'>, ask: Ask, dropped: DroppedFact[]) {
  const { text } = layout.outline;
  const passages = passagesOf(layout, resizeLayout(layout, settings.passage_tokens));
  const answers = mapInOrder(passages, settings.concurrency, async ({ piece, prose }) => ({
    piece,
    facts: prose ? await askAbout(layout, piece, ask) : [],
  }));
  for await (const { piece, facts } of answers) {
    const known = [...piece.path.map((heading) => heading.title), text.slice(piece.start, piece.end)].join('\n');
    let kept = 0;
    for (const fact of facts) {
      const fault = checkFact(fact, known);
      if (fault !== undefined) {
        dropped.push({ text: fact, reason: `${fault.reason}: ${fault.word}`, start: piece.start, end: piece.end });
        continue;
      }
      kept++;
      yield* factChunks(layout, piece, fact);
    }
    if (kept === 0) for (const part of cutToSize(layout, piece)) yield* finishPiece(layout, part);
  }
}

/** Prose in passages, tables and code in the pieces that `auto` makes of them. */
function* passagesOf(layout: Layout, passages: Layout): Generator<{ piece: Piece; prose: boolean }> {
  for (const stretch of stretchesOf(layout)) {
    if (stretch.kind === 'block') {
      for (const piece of cutBlock(layout, stretch)) yield { piece, prose: false };
    } else {
      const section = { path: stretch.section.path, blocks: stretch.blocks };
      for (const { start, end, path } of cutSections(passages, { plain: false }, [section])) {
        yield { piece: { start, end, path, run: { context: '' } }, prose: true };
      }
    }
  }
}

async function askAbout(layout: Layout, piece: Piece, ask: Ask): Promise<string[]> {
  const passage = layout.outline.text.slice(piece.start, piece.end);
  if (!/\p{L}/u.test(passage) || factsOf(layout, piece).kind === 'heading') return [];
  return ask(
    piece.path.map((heading) => heading.title),
    passage,
  );
}

function createAsker(llm: Llm, prompt: string, deps: StrategyDeps, usage: LlmUsage): Ask {
  const cache: FactCache = deps.facts ?? createFactCache();
  return async (headings, passage) => {
    const messages = factMessages(prompt, headings, passage);
    const key = hashOf([llm.id, messages.map((message) => message.content)]);
    const known = await cache.get(key);
    if (known !== undefined) {
      usage.cached++;
      return known;
    }
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const answer = await llm.complete({ messages, temperature: 0 }, deps.signal);
      usage.calls++;
      usage.prompt_tokens += answer.usage.prompt_tokens;
      usage.completion_tokens += answer.usage.completion_tokens;
      const facts = readFacts(answer.text);
      if (facts === undefined) continue;
      await cache.set(key, facts);
      return facts;
    }
    throw new SluiceError(
      'llm_failed',
      `the language model ${llm.id} answered ${ATTEMPTS} times with something other than a list of facts`,
    );
  };
}

/** The fact as a chunk; a fact over the limit is parted between words. */
function* factChunks(layout: Layout, piece: Piece, fact: string): Generator<Omit<Chunk, 'index'>> {
  const { counter, limit } = layout;
  const lead = leadOf(layout, piece.path);
  const { kind, pages, lang, metadata } = factsOf(layout, piece);
  const most = layout.sizes.unit === 'chars' ? layout.sizes.max : Number.POSITIVE_INFINITY;
  for (const part of partFact(fact, (text) => text.length <= most && counter.count(withLead(lead, text)) <= limit)) {
    const embedded = withLead(lead, part);
    yield {
      kind,
      text: part,
      start: piece.start,
      end: piece.end,
      prefix: '',
      derived: true,
      ...(embedded === part ? {} : { embeddingText: embedded }),
      headingPath: piece.path.map((heading) => heading.title).filter((title) => title !== ''),
      ...pages,
      tokens: counter.count(embedded) + counter.specialTokens,
      ...(lang === undefined ? {} : { lang }),
      metadata,
    };
  }
}

function withLead(lead: string, text: string): string {
  return lead === '' ? text : `${lead}\n\n${text}`;
}

function* partFact(fact: string, fits: (text: string) => boolean): Generator<string> {
  const cut = fits(fact) ? fact.length : cutInMiddle(fact);
  if (cut >= fact.length) {
    yield fact;
    return;
  }
  yield* partFact(fact.slice(0, cut).trim(), fits);
  const rest = fact.slice(cut).trim();
  if (rest !== '') yield* partFact(rest, fits);
}

/** A space before the middle, else a grapheme's edge near it; the end where there is but one grapheme. */
function cutInMiddle(text: string): number {
  const middle = Math.max(1, text.length >>> 1);
  const space = text.lastIndexOf(' ', middle);
  if (space > 0 && isGraphemeEdge(text, space)) return space;
  const behind = edgeAfter(text, middle);
  if (behind < text.length) return behind;
  const before = edgeBefore(text, middle);
  return before > 0 ? before : text.length;
}
