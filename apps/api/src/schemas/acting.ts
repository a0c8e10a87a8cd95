import { z } from 'zod';

export const levelSchema = z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4), z.literal(5)]);
const groupSchema = z.string().trim().min(1).max(200);

/** For gateways: rights of the person for whom a call is made. They are intersected with those of the key, never added. */
export const asSchema = z
  .strictObject({
    clearance: levelSchema.optional().describe('The lower of this and the clearance of the key counts.'),
    groups: z.array(groupSchema).max(1000).optional().describe('Of the groups of the key only these count.'),
  })
  .optional()
  .describe('Answers as to a caller of these rights, within those of the key.');

/** The same in the query of a GET. */
export const asQuery = {
  as_clearance: z.coerce
    .number()
    .int()
    .min(1)
    .max(5)
    .pipe(levelSchema)
    .optional()
    .describe('Answers as to a caller of this clearance, if the key has more.'),
  as_groups: z
    .string()
    .max(20_000)
    .transform((text) =>
      text
        .split(',')
        .map((group) => group.trim())
        .filter((group) => group !== ''),
    )
    .optional()
    .describe('Answers as to a caller of these groups, between commas, as far as the key has them.'),
};

interface Acting {
  clearance?: z.infer<typeof levelSchema> | undefined;
  groups?: readonly string[] | undefined;
}

/** What a validated request says of whom it is for. */
export function actingOf(body: unknown, query: unknown): Acting | undefined {
  const given = body as { as?: Acting } | null | undefined; // by asSchema, where the route takes it
  if (given?.as !== undefined) return given.as;
  const { as_clearance: clearance, as_groups: groups } = (query ?? {}) as {
    as_clearance?: Acting['clearance'];
    as_groups?: string[];
  }; // by asQuery
  return clearance === undefined && groups === undefined ? undefined : { clearance, groups };
}
