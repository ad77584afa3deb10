import * as v from 'valibot';

/** A schema of the contract: any synchronous valibot schema. */
export type Schema = v.GenericSchema;

/** A schema of a JSON object, whose `entries` name the known fields. */
export type ObjectSchema = Schema & { readonly entries: Readonly<Record<string, Schema>> };

/** A ULID: Crockford base 32 in upper case, without I, L, O and U, at most 128 bits. */
const ulidPattern = '[0-7][0-9A-HJKMNP-TV-Z]{25}';

/**
 * Returns a whole number with its digits in groups of three. `toLocaleString` would load ICU, which takes a quarter of
 * the start of a function.
 */
export function grouped(whole: number): string {
  return String(whole).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Returns the number of Unicode code points of a text: the unit of all lengths in the API, and in JSON Schema. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/**
 * Returns the schema of a text of `min` to `max` code points, which it does not change. It rejects lone surrogates,
 * which UTF-8 cannot encode, and, if `min` is above 0, text of white space only.
 */
export function text(min: number, max: number) {
  const range = min > 0 ? `${min} to ${grouped(max)}` : `at most ${grouped(max)}`;
  return v.pipe(
    v.string('must be a string'),
    v.check((value) => value.isWellFormed(), 'must not contain a lone surrogate'),
    v.check((value) => {
      // A code point takes one or two code units, so the length alone decides for most texts.
      if (value.length > max * 2) return false;
      const length = value.length <= max && value.length >= min * 2 ? value.length : codePoints(value);
      return length >= min && length <= max;
    }, `must have ${range} characters`),
    v.check((value) => min === 0 || /\S/u.test(value), 'must not be white space only'),
    v.metadata({ minLength: min, maxLength: max, ...(min > 0 && { pattern: '\\S' }) }),
  );
}

/** Returns the schema of a string that matches the whole `pattern`; the error message is `must be ${what}`. */
export function matching(pattern: string, what: string) {
  return v.pipe(v.string('must be a string'), v.regex(new RegExp(`^${pattern}$`), `must be ${what}`));
}

/** Returns the schema of an id: a prefix and a ULID, as in `tk_01K…`. `whose` names the resource, as in `a task`. */
export function id(prefix: string, whose: string) {
  return v.pipe(
    matching(`${prefix}_${ulidPattern}`, `an id of the form ${prefix}_ followed by a ULID (26 characters)`),
    v.description(`Id of ${whose}.`),
    v.examples([`${prefix}_01K9Z3T6V0QW8E5R7T9Y1AB2CD`]),
  );
}

/** Returns a schema with a description for the OpenAPI document. */
export function described<const S extends Schema>(schema: S, description: string) {
  return v.pipe(schema, v.description(description));
}

/** Returns the schema of an enumeration. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return v.picklist(words, `must be one of ${words.join(', ')}`);
}

/** Returns the schema of an array of `min` to `max` different values. */
export function listOf<Item extends Schema>(item: Item, { min = 0, max }: { min?: number; max: number }) {
  return v.pipe(
    v.array(item, 'must be an array'),
    v.minLength(min, `must have at least ${min} ${min === 1 ? 'entry' : 'entries'}`),
    v.maxLength(max, `must have at most ${max} entries`),
    v.check((values) => new Set(values).size === values.length, 'must not have duplicates'),
    v.metadata({ uniqueItems: true }),
  );
}

/** A time in ISO 8601 UTC with milliseconds. */
export const Timestamp = v.pipe(v.string(), v.isoTimestamp(), v.examples(['2026-11-14T09:30:00.000Z']));

/** The name of an agent. */
export const AgentName = v.pipe(
  matching('[a-z0-9]+(-[a-z0-9]+)*', 'kebab-case: lowercase letters and digits, separated by single hyphens'),
  v.maxLength(64, 'must have at most 64 characters'),
  v.description('Unique kebab-case identifier of an agent, used in paths.'),
  v.examples(['builder']),
);

/** The id of a project. */
export const ProjectId = v.pipe(
  matching('proj_[A-Za-z0-9_-]{1,64}', 'proj_ followed by 1 to 64 letters, digits, _ or -'),
  v.description('Id of a project. The service has no project resource: any id of this form is valid.'),
  v.examples(['proj_website']),
);

/**
 * Returns the schema of a whole number in a query, in plain decimal digits. `documented` goes into the OpenAPI
 * document.
 */
function digits(
  pattern: RegExp,
  message: string,
  documented: { minimum: number; maximum?: number; description: string },
) {
  return v.pipe(
    v.string(),
    v.metadata({ type: 'integer', ...documented }),
    v.check((value) => pattern.test(value), message),
    v.transform(Number),
  );
}

/** A whole number from 0: a count, or a number of milliseconds. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** The query parameters of all paged lists. */
export const pageQuery = {
  limit: v.optional(
    v.pipe(
      digits(/^\d+$/, 'must be a whole number from 1, in plain decimal digits', {
        minimum: 1,
        description: 'Page size. A value above 100 counts as 100.',
      }),
      v.minValue(1, 'must be at least 1'),
      v.transform((limit) => Math.min(limit, 100)),
    ),
    '20',
  ),
  offset: v.optional(
    digits(/^\d{1,15}$/, 'must be a whole number from 0, in at most 15 plain decimal digits', {
      minimum: 0,
      maximum: 999_999_999_999_999,
      description: 'Number of items to skip, starting with the newest.',
    }),
    '0',
  ),
};

/** The `pagination` of a response: the position of the page in its list. */
export const Pagination = v.object({
  limit: described(
    count,
    'The applied page size. It is smaller than the requested limit if that number of items does not fit into one response of 6 MB; the next page starts at offset + limit.',
  ),
  offset: described(count, 'Number of skipped items.'),
  total: described(count, 'Exact number of items that match the filters, on all pages.'),
});
