export { createLlm, llmId } from './llm.js';
