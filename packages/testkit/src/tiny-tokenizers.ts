import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Kinds of tokenizers beside the word pieces of BERT: SentencePiece's Unigram as XLM-RoBERTa has it, byte-level BPE as RoBERTa has it. */
export type TinyTokenizerKind = 'unigram' | 'bpe';

const SPECIALS = ['<s>', '<pad>', '</s>', '<unk>'];
const UNIGRAM_PIECES =
  '▁ ▁the ▁kettle ▁boil ▁steam kettle boil the ing ed s ▁a ▁I 天 下 雨 今天 。 はい 「 」 한국 어 문장 हम घर पर हैं هل وصلت ؟ . , ! ? - = + ( ) : y x xx xxxx def return class ' +
  'वन 水 ก็ ตก ▁Über maß é';
const MERGES = 'Ġ t,h e,Ġt he,i n,in g,e r,o n,Ġ a,Ġ k,e t,et t,l e,ett le,Ġk ettle,x x,xx xx,a n,an d,Ġ s,s t,ä ¸,ä» Ĭ,ã Ģ';

/**
 * Writes a small tokenizer with the files of a model's folder around it; the graph is not there.
 *
 * @returns number of ids in its vocabulary
 */
export async function writeTinyTokenizer(folder: string, kind: TinyTokenizerKind): Promise<number> {
  const { tokenizer, size } = kind === 'unigram' ? unigram() : bpe();
  const config = { model_type: 'xlm-roberta', hidden_size: 8, max_position_embeddings: 258, vocab_size: size };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify({ version: '1.0', ...tokenizer }));
  await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify({ model_max_length: 256, unk_token: '<unk>' }));
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  return size;
}

const addedTokens = SPECIALS.map((content, id) => ({
  id,
  content,
  special: true,
  lstrip: false,
  rstrip: false,
  normalized: false,
}));

function unigram() {
  const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
  const pieces = [...new Set([...UNIGRAM_PIECES.split(' '), ...letters])];
  const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  const text = (id: string) => ({ Sequence: { id, type_id: 0 } });
  return {
    size: SPECIALS.length + pieces.length,
    tokenizer: {
      added_tokens: addedTokens,
      normalizer: { type: 'Precompiled', precompiled_charsmap: '' },
      pre_tokenizer: {
        type: 'Sequence',
        pretokenizers: [{ type: 'WhitespaceSplit' }, { type: 'Metaspace', replacement: '▁', add_prefix_space: true }],
      },
      post_processor: {
        type: 'TemplateProcessing',
        single: [special('<s>'), text('A'), special('</s>')],
        pair: [special('<s>'), text('A'), special('</s>'), special('</s>'), text('B'), special('</s>')],
        special_tokens: { '<s>': { id: '<s>', ids: [0], tokens: ['<s>'] }, '</s>': { id: '</s>', ids: [2], tokens: ['</s>'] } },
      },
      decoder: { type: 'Metaspace', replacement: '▁', add_prefix_space: true },
      // Longer pieces are likelier than the sum of their parts.
      model: {
        type: 'Unigram',
        unk_id: 3,
        vocab: [...SPECIALS.map((piece) => [piece, 0]), ...pieces.map((piece) => [piece, -10 - 1 / piece.length])],
      },
    },
  };
}

function bpe() {
  const merges = MERGES.split(',');
  const pieces = [...new Set([...SPECIALS, ...byteCharacters(), ...merges.map((merge) => merge.replace(' ', ''))])];
  return {
    size: pieces.length,
    tokenizer: {
      added_tokens: addedTokens,
      normalizer: null,
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
      post_processor: {
        type: 'RobertaProcessing',
        sep: ['</s>', 2],
        cls: ['<s>', 0],
        trim_offsets: true,
        add_prefix_space: false,
      },
      decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true },
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
        merges,
      },
    },
  };
}

/** The characters by which byte-level BPE writes bytes: printable ones stand for themselves, the others come from U+0100 on. */
function byteCharacters(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCharCode(printable ? byte : next++);
  });
}
