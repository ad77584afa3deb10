import * as v from 'valibot';

/**
 * The name of the tenant that an access token belongs to. It is a branded type, so that the compiler accepts no other
 * string: an organization comes only from a token or from an operator's command line.
 */
export const Organization = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 lowercase letters, digits or hyphens'),
  v.brand('Organization'),
);
export type Organization = v.InferOutput<typeof Organization>;
