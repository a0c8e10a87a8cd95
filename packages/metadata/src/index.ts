export {
  type AccessInput,
  accessFilter,
  accessLevelNames,
  DEFAULT_ACCESS_LEVELS,
  type DocumentAccess,
  isLevel,
  mayAccess,
  narrowAccess,
  resolveAccess,
} from './access.js';
export { type DateSpan, isoInstant, parseDate } from './dates.js';
export {
  ACCESS_RESTRICTED_FIELD,
  BUILT_IN_FIELDS,
  type CatalogField,
  type FieldCatalog,
  fieldCatalog,
  RESERVED_FIELDS,
  SET_FIELDS_FIELD,
} from './fields.js';
export { evaluateFilter, filterableValues, setFieldsOf } from './filter-evaluator.js';
export { compileFilter, MAX_FILTER_CONDITIONS, MAX_FILTER_DEPTH, MAX_FILTER_VALUES } from './filter-grammar.js';
export { type FrontMatter, frontMatterOf, MAX_FRONT_MATTER } from './front-matter.js';
export type { MetadataInput, MetadataRule, MetadataSchema, Origin } from './layers.js';
export { createPathRules, type Matching } from './path-rules.js';
export { checkMetadata, type ResolvedMetadata, resolveMetadata } from './resolve.js';
export { isSidecar, MAX_SIDECAR_BYTES, ownerOf, parseSidecar, sidecarOf } from './sidecar.js';
