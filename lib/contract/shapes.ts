import * as v from 'valibot';

/** A schema of the contract: any valibot schema that needs no I/O. */
export type Schema = v.GenericSchema;

/** A schema of a JSON object, whose `entries` name the known fields. */
export type ObjectSchema = Schema & { readonly entries: Readonly<Record<string, Schema>> };

/** Crockford base 32 as ULIDs spell it: upper case, without I, L, O and U, 128 bits at most. */
const ulidPattern = '[0-7][0-9A-HJKMNP-TV-Z]{25}';

/** A whole number as English groups its digits. `toLocaleString` would load ICU, for a quarter of a function's start. */
export function grouped(whole: number): string {
  return String(whole).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** How many Unicode code points a text has: the unit of every length in the interface, and of JSON Schema. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/**
 * Text of `min` to `max` code points, kept as it is sent. Refuses lone surrogates, which UTF-8 cannot carry,
 * and, where text is required (`min` above 0), white space only.
 */
export function text(min: number, max: number) {
  const range = min > 0 ? `${min} to ${grouped(max)}` : `at most ${grouped(max)}`;
  return v.pipe(
    v.string('must be a string'),
    v.check((value) => value.isWellFormed(), 'must not contain a lone surrogate'),
    v.check((value) => {
      // A code point takes one or two code units, so most texts are judged by their length alone.
      if (value.length > max * 2) return false;
      const length = value.length <= max && value.length >= min * 2 ? value.length : codePoints(value);
      return length >= min && length <= max;
    }, `must have ${range} characters`),
    v.check((value) => min === 0 || /\S/u.test(value), 'must not be white space only'),
    v.metadata({ minLength: min, maxLength: max, ...(min > 0 && { pattern: '\\S' }) }),
  );
}

/** A string that matches `pattern` whole; `what` says in words what it must be. */
export function matching(pattern: string, what: string) {
  return v.pipe(v.string('must be a string'), v.regex(new RegExp(`^${pattern}$`), `must be ${what}`));
}

/** An id: the prefix of its kind and a ULID, as in `tk_01K…`; `whose` is that kind in words. */
export function id(prefix: string, whose: string) {
  return v.pipe(
    matching(`${prefix}_${ulidPattern}`, `an id of the form ${prefix}_ and 26 characters (a ULID)`),
    v.description(`Id of ${whose}.`),
    v.examples([`${prefix}_01K9Z3T6V0QW8E5R7T9Y1AB2CD`]),
  );
}

/** A schema with a sentence for the reader of the OpenAPI document. */
export function described<const S extends Schema>(schema: S, description: string) {
  return v.pipe(schema, v.description(description));
}

/** One of a fixed list of words. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return v.picklist(words, `must be one of ${words.join(', ')}`);
}

/** A list of at most `max` (and at least `min`) different values. */
export function listOf<Item extends Schema>(item: Item, { min = 0, max }: { min?: number; max: number }) {
  return v.pipe(
    v.array(item, 'must be an array'),
    v.minLength(min, `must have at least ${min} ${min === 1 ? 'entry' : 'entries'}`),
    v.maxLength(max, `must have at most ${max} entries`),
    v.check((values) => new Set(values).size === values.length, 'must not have duplicates'),
    v.metadata({ uniqueItems: true }),
  );
}

/** ISO 8601 UTC with milliseconds. */
export const Timestamp = v.pipe(v.string(), v.isoTimestamp(), v.examples(['2026-11-14T09:30:00.000Z']));

/** An agent's name: unique kebab-case identifier, used in paths. */
export const AgentName = v.pipe(
  matching('[a-z0-9]+(-[a-z0-9]+)*', 'kebab-case: lower-case letters and digits, parted by single hyphens'),
  v.maxLength(64, 'must have at most 64 characters'),
  v.description('Unique kebab-case identifier of an agent, used in paths.'),
  v.examples(['builder']),
);

/** A project's id. There is no project resource: any well-formed id may be given. */
export const ProjectId = v.pipe(
  matching('proj_[A-Za-z0-9_-]{1,64}', 'proj_ and 1 to 64 letters, digits, _ or -'),
  v.description('Id of a project, as its owner chose it: there is no project resource.'),
  v.examples(['proj_website']),
);

/** A whole number in a query: plain decimal digits. `documented` is what the OpenAPI document says of it. */
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

/** A number of things, or of milliseconds: whole, from 0. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** The pages of a list: every list takes these two. */
export const pageQuery = {
  limit: v.optional(
    v.pipe(
      digits(/^\d+$/, 'must be a whole number from 1, in plain decimal digits', {
        minimum: 1,
        description: 'Page size; more than 100 counts as 100.',
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
      description: 'How many to skip, from the newest.',
    }),
    '0',
  ),
};

/** Where a page stands in its list, as `pagination` says it. */
export const Pagination = v.object({
  limit: described(
    count,
    'The page size that was applied. It is smaller than the requested limit if that number of items does not fit into one response of 6 MB; the next page is at offset + limit.',
  ),
  offset: described(count, 'How many were skipped.'),
  total: described(count, 'How many the filters match, exactly, whatever the page.'),
});
