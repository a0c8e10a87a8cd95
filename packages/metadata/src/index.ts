export { type FrontMatter, frontMatterOf, MAX_FRONT_MATTER } from './front-matter.js';
