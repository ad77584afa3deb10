import * as v from 'valibot';
import { timestamp } from './ids.ts';
import { codePoints } from './texts/code-points.ts';

/** A schema of the contract: any synchronous valibot schema. */
export type Schema = v.GenericSchema;

/** A schema of a JSON object, whose `entries` name the known fields. */
export type ObjectSchema = Schema & { readonly entries: Readonly<Record<string, Schema>> };

/** Returns only the fields of a value that its schema declares, in this order, so that no other field can leak. */
export function pick(schema: Schema, value: unknown): unknown {
  if ('wrapped' in schema) return value === undefined || value === null ? value : pick(schema.wrapped as Schema, value);
  if ('item' in schema) return (value as unknown[]).map((item) => pick(schema.item as Schema, item));
  if (!('entries' in schema)) return value;
  const entries = schema.entries as Record<string, Schema>;
  const picked: Record<string, unknown> = {};
  for (const name in entries) picked[name] = pick(entries[name] as Schema, (value as Record<string, unknown>)[name]);
  return picked;
}

/** A ULID: Crockford base 32 in upper case, without I, L, O and U, at most 128 bits. */
const ulidPattern = '[0-7][0-9A-HJKMNP-TV-Z]{25}';

/**
 * Returns a whole number with its digits in groups of three. `toLocaleString` would load ICU, which takes a quarter of
 * the start of a function.
 */
export function grouped(whole: number): string {
  return String(whole).replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * A visible character: neither white space, nor a control or format character, nor one that is drawn as nothing, such as the
 * blank of braille or a musical note without a head.
 */
const visible = /[^\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{1d159}]/u;

/** A control character other than tab and line breaks. */
const control = /[^\P{Cc}\t\n\r]/u;

/**
 * Returns why no text of a request may have these characters: UTF-8 cannot encode a lone surrogate, and databases of receivers
 * refuse U+0000, as in each attempt of a delivery; `undefined` if it has neither.
 */
export function characterError(value: string): string | undefined {
  if (!value.isWellFormed()) return 'must not contain a lone surrogate';
  if (value.includes('\0')) return 'must not contain U+0000';
  return undefined;
}

/**
 * Returns the schema of a text of `min` to `max` code points, which it does not change. It rejects lone surrogates and U+0000,
 * and, if `min` is above 0, a text that shows nothing.
 */
export function text(min: number, max: number) {
  const range = min > 0 ? `${min} to ${grouped(max)}` : `at most ${grouped(max)}`;
  return v.pipe(
    v.string('must be a string'),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? characterError(dataset.value) : undefined;
      if (message) addIssue({ message });
    }),
    v.check((value) => {
      // A code point takes one or two code units, so the length alone decides for most texts.
      if (value.length > max * 2) return false;
      const length = value.length <= max && value.length >= min * 2 ? value.length : codePoints(value);
      return length >= min && length <= max;
    }, `must have ${range} characters`),
    v.check((value) => min === 0 || visible.test(value), 'must have at least one visible character'),
    v.metadata({ minLength: min, maxLength: max, ...(min > 0 && { pattern: '\\S' }) }),
  );
}

/** Returns the schema of a name or a title: a text of 1 to `max` code points without control characters but tab and line breaks. */
export function label(max: number) {
  return v.pipe(
    text(1, max),
    v.check((value) => !control.test(value), 'must not contain control characters other than tab and line breaks'),
  );
}

/** The schema of a boolean in a request. */
export const flag = v.boolean('must be true or false');

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

/**
 * Returns the schema of a query parameter that has different values of an enumeration, separated by commas. The OpenAPI
 * document has it as an array.
 */
export function someOf<const Words extends readonly string[]>(words: Words, description: string) {
  return v.pipe(
    v.string('must be a string'),
    v.metadata({
      ...{ type: 'array', items: { type: 'string', enum: words }, minItems: 1, uniqueItems: true },
      ...{ description, examples: [words] },
    }),
    v.transform((value) => value.split(',')),
    v.check(
      (values) => new Set(values).size === values.length && values.every((value) => words.includes(value)),
      `must be one or more of ${words.join(', ')}, each once, separated by commas`,
    ),
    v.transform((values) => values as Words[number][]),
  );
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

/**
 * A time in a request: ISO 8601 with seconds and an offset from UTC, as RFC 3339 has it, also with `t` and `z` in lower case.
 * `Date.parse` alone would also accept dates that do not exist, and times without an offset.
 */
export const SentTime = v.pipe(
  v.string('must be a string'),
  v.check(isTime, ({ input }) => `must be a time in ISO 8601 with an offset from UTC, such as ${exampleOf(input)}`),
  v.metadata({ format: 'date-time' }),
  v.examples(['2026-11-14T09:30:00Z']),
);

/** Returns an example for a malformed time. In a query, a `+` that is not escaped arrives as a space. */
function exampleOf(given: string): string {
  return isTime(given.replace(/ (?=\d\d:\d\d$)/, '+'))
    ? '2026-11-14T09:30:00%2B01:00; write + as %2B in a URL'
    : '2026-11-14T09:30:00Z';
}

const timePattern =
  /^(?<date>\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

function isTime(given: string): boolean {
  const { date } = timePattern.exec(given)?.groups ?? {};
  if (!date) return false;
  const midnight = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(midnight) || !timestamp(midnight).startsWith(date)) return false;
  // The offset can move the time out of the years 0 to 9999, whose timestamps sort by time.
  return /^\d{4}-/.test(timestamp(unixTimeOf(given)));
}

/** Returns a sent time as Unix time in ms. The format that `Date.parse` must know has capital letters. */
function unixTimeOf(given: string): number {
  return Date.parse(given.toUpperCase());
}

/** Returns the schema of a time in a body, which is stored and returned in UTC. The description stands before the transform. */
export const bodyTime = (description: string) =>
  v.pipe(
    described(SentTime, description),
    v.transform((given) => timestamp(unixTimeOf(given))),
  );

/** Returns the schema of an end of a time range, as Unix time in ms. The description stands before the transform. */
export const rangeEnd = (description: string) => v.pipe(described(SentTime, description), v.transform(unixTimeOf));

/** The hash of a system prompt: the SHA-256 of its UTF-8 bytes. */
export const PromptHash = v.pipe(
  matching('sha256:[0-9a-f]{64}', 'sha256: followed by 64 lowercase hexadecimal digits'),
  v.description('Hash of a system prompt: the SHA-256 of its UTF-8 bytes.'),
  v.examples(['sha256:56de6f5a3b52160f681c21bb845e8ecdc660880303452d0fa7828eecd8606adc']),
);

/** The name of an agent. */
export const AgentName = v.pipe(
  matching('[a-z0-9]+(-[a-z0-9]+)*', 'kebab-case: lowercase letters and digits, separated by single hyphens'),
  v.maxLength(64, 'must have at most 64 characters'),
  v.description('Name of an agent, in kebab-case.'),
  v.examples(['builder']),
);

/** The id of a webhook, which events and webhooks have. */
export const WebhookId = id('wh', 'a webhook');

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

/** The query parameter of all pages for their size. */
export const pageLimit = v.optional(
  v.pipe(
    digits(/^\d+$/, 'must be a whole number from 1, in plain decimal digits', {
      minimum: 1,
      description: 'Page size. A value above 100 counts as 100.',
    }),
    v.minValue(1, 'must be at least 1'),
    v.transform((limit) => Math.min(limit, 100)),
  ),
  '20',
);

/** The query parameters of all lists with a total. */
export const pageQuery = {
  limit: pageLimit,
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

/** The `pagination` of a response whose list has no total: where the next page begins. */
export const CursorPagination = v.object({
  limit: described(count, 'The applied page size.'),
  next: described(
    v.nullable(v.string()),
    'The value of `after` or `before` for the next page; null at the end of the list. With `after` it is never null.',
  ),
});
