import { z } from 'zod';
import { RESERVED_FIELDS } from './fields.js';
import { compileGlob } from './glob.js';

/** A glob that paths are tested by. */
export const globSchema = z
  .string()
  .min(1)
  .superRefine((glob, context) => {
    try {
      compileGlob(glob);
    } catch (cause) {
      context.addIssue({ code: 'custom', message: cause instanceof Error ? cause.message : String(cause) });
    }
  });

/** Type of a declared field. One field has one type in the whole configuration. */
export const fieldTypeSchema = z.enum(['text', 'text[]', 'int', 'number', 'date', 'boolean']);

/** Name of a declared field, as filters use it. */
export const fieldNameSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,59}$/, 'a field name is [a-z][a-z0-9_]*, at most 60 characters')
  .refine((name) => !RESERVED_FIELDS.has(name), 'is the name of a field that every document has');

/** `fields` of a source: front matter keys that are indexed and may be filtered by, with their types. Default none. */
export const fieldsSchema = z.record(fieldNameSchema, fieldTypeSchema);

export const securityLevelSchema = z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4), z.literal(5)], {
  error: 'expected a level of 1 to 5',
});

/** The section `schema` of sluice.yaml. */
export const schemaSettings = z.strictObject({
  /** Values that doc_type may have. Default: any short text. */
  doc_types: z.array(z.string().min(1).max(100)).min(1).optional(),
  /** Level of documents whose source names none. Default 5 (1 without a configuration file). */
  default_security_level: securityLevelSchema.optional(),
  /** Further names for levels beside public 1, internal 2, confidential 3, restricted 4, secret 5. Lower case. */
  access_levels: z
    .record(z.string().regex(/^[a-z][a-z0-9_-]*$/, 'a level name is [a-z][a-z0-9_-]*'), securityLevelSchema)
    .optional(),
});
