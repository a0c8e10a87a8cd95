import { z } from 'zod';

/** Section `llm` of sluice.yaml: any OpenAI-compatible endpoint. */
export const llmSchema = z
  .strictObject({
    base_url: z.url().nullish(),
    model: z.string().min(1).nullish(),
    /** Name of the environment variable that holds the endpoint's key. */
    api_key_env: z.string().min(1).nullish(),
  })
  .superRefine(({ base_url: url, model }, context) => {
    if ((url == null) === (model == null)) return;
    const [key, other] = url == null ? ['base_url', 'model'] : ['model', 'base_url'];
    context.addIssue({ code: 'custom', path: [key], message: `is missing beside llm.${other}` });
  });
