import { z } from 'zod';

/** The largest `max_tokens` a model takes, special tokens included: 256 for all-MiniLM-L6-v2. */
export const DEFAULT_MODEL_TOKENS = 256;

const DEFAULT_MAX_TOKENS = 200;

/** `max_tokens` where nobody sets it: a model that takes less gets what it takes. */
function defaultMaxTokens(modelTokens: number): number {
  return Math.min(DEFAULT_MAX_TOKENS, modelTokens);
}

/** Room for the special tokens of a BERT-like model and one word piece. */
const LEAST_TOKENS = 3;

export const STRATEGIES = ['auto', 'recursive', 'semantic', 'sentence-window', 'propositions', 'parent-document'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** What every strategy takes. Sizes are in word pieces of what is embedded, or in UTF-16 units of the chunk's text: one unit a call. */
function commonShape(modelTokens: number) {
  return {
    max_tokens: z
      .int()
      .min(LEAST_TOKENS, `must be at least ${LEAST_TOKENS}: the model's special tokens count too`)
      .max(modelTokens, `must be at most ${modelTokens}, what the embedding model takes: more would be cut without a word`)
      .optional(),
    min_tokens: z.int().min(0, 'must not be negative').optional(),
    heading_prefix: z.boolean().default(true),
    max_chars: z.int().min(1, 'must be at least 1').optional(),
    overlap_chars: z.int().min(0, 'must not be negative').optional(),
  };
}

const recursiveShape = {
  overlap: z.int().min(0, 'must not be negative').optional(),
  structure: z.boolean().default(true),
  /** Tried in this order, the last resort being graphemes; [] for graphemes alone. Default: by format. */
  separators: z.array(z.string().min(1, 'must not be empty')).optional(),
};

interface Sizes {
  max_tokens?: number | undefined;
  min_tokens?: number | undefined;
  max_chars?: number | undefined;
  overlap_chars?: number | undefined;
  overlap?: number | undefined;
}

type Issue = { path: string[]; message: string };

function sizeIssues(value: Sizes, defaultMax: number): Issue[] {
  const issues: Issue[] = [];
  const refuse = (key: string, message: string) => issues.push({ path: [key], message });
  if (value.max_chars !== undefined) {
    if (value.max_tokens !== undefined) refuse('max_chars', 'must not stand beside max_tokens: one unit a call');
    if (value.overlap !== undefined && value.overlap > 0) refuse('overlap', 'counts tokens: beside max_chars use overlap_chars');
    if (value.min_tokens !== undefined && value.min_tokens > 0)
      refuse('min_tokens', 'counts tokens: beside max_chars leave it out');
    if (value.overlap_chars !== undefined && value.overlap_chars >= value.max_chars) {
      refuse('overlap_chars', `must be less than max_chars (${value.max_chars})`);
    }
    return issues;
  }
  if (value.overlap_chars !== undefined) refuse('overlap_chars', 'needs max_chars: one unit a call');
  const most = value.max_tokens ?? defaultMax;
  if (value.overlap !== undefined && value.overlap >= most) refuse('overlap', `must be less than max_tokens (${most})`);
  if (value.min_tokens !== undefined && value.min_tokens > most)
    refuse('min_tokens', `must not be more than max_tokens (${most})`);
  return issues;
}

function checked<Shape extends z.core.$ZodShape>(
  defaultMax: number,
  shape: Shape,
  further?: (value: Record<string, unknown>) => Issue[],
) {
  return z.strictObject(shape).superRefine((value, context) => {
    // Sound: every shape here holds the keys of commonShape, whose values zod has checked.
    const sizes = value as Sizes & Record<string, unknown>;
    for (const issue of [...sizeIssues(sizes, defaultMax), ...(further?.(sizes) ?? [])])
      context.addIssue({ code: 'custom', ...issue });
  });
}

/**
 * The settings of all strategies, discriminated by `strategy` (default `auto`), with their defaults. Errors name the key.
 *
 * @param modelTokens what the embedding model takes, special tokens included: more is an error
 */
export function createChunkingSchema(modelTokens = DEFAULT_MODEL_TOKENS) {
  const common = commonShape(modelTokens);
  const defaultMax = defaultMaxTokens(modelTokens);
  const recursive = { ...common, ...recursiveShape };
  const union = z.discriminatedUnion('strategy', [
    checked(defaultMax, { strategy: z.literal('auto'), ...recursive }),
    checked(defaultMax, { strategy: z.literal('recursive'), ...recursive }),
    checked(
      defaultMax,
      {
        strategy: z.literal('semantic'),
        ...common,
        /** Of the distances of adjacent sentences: cut where one is strictly greater. 95 where neither is set. */
        percentile: z.number().min(0, 'must be 0 to 100').max(100, 'must be 0 to 100').optional(),
        /** Absolute cosine: cut below it. */
        threshold: z.number().min(-1, 'is a cosine: -1 to 1').max(1, 'is a cosine: -1 to 1').optional(),
        /** Sentences the percentile is taken over. */
        neighbourhood: z.int().min(2, 'must be at least 2').default(200),
        /** Sentences each side whose meaning is counted in. */
        buffer: z.int().min(0, 'must not be negative').default(0),
      },
      (value) =>
        value.percentile !== undefined && value.threshold !== undefined
          ? [{ path: ['threshold'], message: 'must not stand beside percentile: set one of them' }]
          : [],
    ),
    checked(defaultMax, {
      strategy: z.literal('sentence-window'),
      ...common,
      window: z.int().min(0, 'must not be negative; 0 gives the sentence alone').default(3),
    }),
    checked(defaultMax, {
      strategy: z.literal('propositions'),
      ...common,
      concurrency: z.int().min(1, 'must be at least 1').default(4),
      passage_tokens: z.int().min(16, 'must be at least 16').default(400),
      prompt_file: z.string().min(1).optional(),
    }),
    checked(
      defaultMax,
      {
        strategy: z.literal('parent-document'),
        ...recursive,
        parent_tokens: z.int().min(LEAST_TOKENS, `must be at least ${LEAST_TOKENS}`).default(800),
      },
      (value) => {
        const most = typeof value.max_tokens === 'number' ? value.max_tokens : defaultMax;
        const parent = typeof value.parent_tokens === 'number' ? value.parent_tokens : most;
        return value.max_chars === undefined && parent < most
          ? [{ path: ['parent_tokens'], message: `must not be less than max_tokens (${most})` }]
          : [];
      },
    ),
  ]);
  return z.preprocess((value) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value) || 'strategy' in value) return value;
    return { strategy: 'auto', ...value };
  }, union);
}

/** {@link createChunkingSchema} for the default model. */
export const chunkingSchema = createChunkingSchema();

/** Settings as checked, with defaults. */
export type CheckedSettings = z.infer<typeof chunkingSchema>;
export type SettingsOf<S extends Strategy> = Extract<CheckedSettings, { strategy: S }>;

/** Sizes in one unit, defaults applied. */
export interface SizeSettings {
  unit: 'tokens' | 'chars';
  max: number;
  /** Smaller chunks are joined with a neighbour, if that fits. */
  min: number;
  /** Also across headings: someone asked for it. */
  minAcross: boolean;
  overlap: number;
}

export function sizesOf(settings: CheckedSettings, modelTokens: number): SizeSettings {
  const overlap = 'overlap' in settings ? (settings.overlap ?? 0) : 0;
  const floor = settings.strategy === 'semantic' ? 20 : 0;
  if (settings.max_chars !== undefined) {
    return { unit: 'chars', max: settings.max_chars, min: 0, minAcross: false, overlap: settings.overlap_chars ?? 0 };
  }
  const max = settings.max_tokens ?? defaultMaxTokens(modelTokens);
  return {
    unit: 'tokens',
    max,
    min: settings.min_tokens ?? Math.min(floor, max),
    minAcross: settings.min_tokens !== undefined,
    overlap,
  };
}
