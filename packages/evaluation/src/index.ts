export type { Dataset, Question } from './dataset.js';
export { judge } from './gate.js';
export { toHtml } from './html.js';
export { loadDataset } from './load-dataset.js';
export { toMarkdown } from './markdown.js';
export { compareReports, makeReport, type Report } from './report.js';
export { resolveDocuments } from './resolve-documents.js';
export { runDataset } from './run-dataset.js';
export { suggestQuestions } from './suggest-questions.js';
