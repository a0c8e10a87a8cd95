export {
  accessFilter,
  accessLevelNames,
  actFor,
  type DocumentAccess,
  mayAccess,
  mayReach,
  narrowAccess,
  resolveAccess,
  seesAll,
} from './access.js';
export { isoInstant, parseDate } from './dates.js';
export { decodeYamlBytes } from './decode.js';
export { ACCESS_RESTRICTED_FIELD, BUILT_IN_FIELDS, type FieldCatalog, fieldCatalog, SET_FIELDS_FIELD } from './fields.js';
export { evaluateFilter, filterableValues, setFieldsOf } from './filter-evaluator.js';
export { compileFilter } from './filter-grammar.js';
export { FRONT_MATTER_EXTENSIONS, frontMatterOf, mayHaveFrontMatter, refuseUnreadAccess } from './front-matter.js';
export { compileGlob, createStepMatcher, readSteps } from './glob.js';
export type { MetadataInput, MetadataRule, MetadataSchema } from './layers.js';
export { createPathRules } from './path-rules.js';
export { checkMetadata, resolveMetadata } from './resolve.js';
export { isReadSidecar, isSidecar, MAX_SIDECAR_BYTES, ownerOf, parseSidecar, sidecarsOf } from './sidecar.js';
