export { createLlm, type LlmOptions } from './llm.js';
