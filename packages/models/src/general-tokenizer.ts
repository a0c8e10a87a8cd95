import { alignBytes, alignPieces } from './align-pieces.js';
import { createTextCache } from './text-cache.js';
import type { GeneralTokenizerFile } from './tokenizer-file.js';
import type { Pieces } from './word-pieces.js';

const WORD = /\S+/g;

/** Visits the pieces of a text, word by word; `base` is where the word begins in the text. */
export type Scan = (text: string, visit: (pieces: Pieces, base: number) => void) => void;

/**
 * The pieces of any tokenizer that @xenova/transformers runs (Unigram, BPE, other WordPiece). Texts are cut at white space first, and
 * each word is tokenised as it stands behind a space: so counts add up over words, whatever is cut from a text keeps its count, and
 * words that repeat are tokenised once. Runs of white space count as one space, and the first word of a text as one behind a space.
 */
export async function createGeneralScan(file: GeneralTokenizerFile): Promise<Scan> {
  // Loads an engine of its own: only where it is needed.
  const { PreTrainedTokenizer } = await import('@xenova/transformers');
  const library = new PreTrainedTokenizer(file.json, file.config);
  // Sound: null without a normaliser; callable by the library's own means, which its types do not say.
  const normalizer = library.normalizer as unknown as ((text: string) => string) | null;
  const normalize = (text: string) => normalizer?.(text) ?? text;
  const piecesOf = createTextCache((word): Pieces => {
    const tokens: string[] = library._encode_text(file.isByteLevel ? ` ${word}` : word) ?? [];
    const ids: number[] = library.model.convert_tokens_to_ids(tokens);
    return { ids, ...(file.isByteLevel ? alignBytes : alignPieces)(word, tokens, normalize) };
  });
  return (text, visit) => {
    for (const match of text.matchAll(WORD)) visit(piecesOf(match[0]), match.index);
  };
}
