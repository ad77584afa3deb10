import * as v from 'valibot';

/**
 * The tenant that a token belongs to. Branded, so that no other string can stand where an organization is asked
 * for: it comes from a token, or from an operator's command line, and from nowhere else.
 */
export const Organization = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 lower-case letters, digits or hyphens'),
  v.brand('Organization'),
);
export type Organization = v.InferOutput<typeof Organization>;
