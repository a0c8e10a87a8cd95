export { createLlm, type LlmOptions, llmId } from './llm.js';
