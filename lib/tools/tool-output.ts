import type { ApiError } from '../contract/errors.ts';
import { shortened } from '../contract/texts/code-points.ts';

/** The maximum size of an output for the model of an agent, in bytes. */
export const outputBytes = 16 * 1024;

/** The shortest length to which texts of a list are cut before entries are left out, in code points. */
const shortestText = 200;

/** The response to a call without its envelope: the data, its place in a list, and a note for the model. */
export type Response = {
  data: unknown;
  pagination?: { limit: number; offset: number; total: number } | { limit: number; next: string | null };
  note?: string | undefined;
};

/**
 * Returns the output of a call that succeeded: the response as JSON, cut with a note if it is too long.
 *
 * @param most the maximum size in bytes
 */
export function outputOf(response: Response, most = outputBytes): string {
  const whole = JSON.stringify(response);
  return fits(whole, most) ? whole : cutOutput(response, most);
}

/** Returns the output of a call that failed: the error of the API as JSON. */
export function errorOutputOf({ code, message, details }: ApiError): string {
  return JSON.stringify({ error: { code, message, ...(details.length > 0 && { details }) } });
}

/** Returns the longest output that fits: with shorter texts, and, if that is not enough, with the first entries of a list. */
function cutOutput(response: Response, most: number): string {
  const { data, pagination } = response;
  const [shortest, withShortest] = cutTexts(response, shortestText);
  if (!Array.isArray(data) || fits(withShortest, most)) return longestTexts(response, most);
  const entries = shortest.data as unknown[];
  const withEntries = (count: number) =>
    JSON.stringify({
      ...shortest,
      data: entries.slice(0, count),
      note: `${response.note ? `${response.note} ` : ''}Texts are cut after ${shortestText} characters. Only the first ${count} of ${entries.length} entries are shown${restOf(pagination, count)}.`,
    });
  return withEntries(largest(entries.length, (count) => fits(withEntries(count), most)));
}

/** Returns how to get the entries after the first ones of a page. */
function restOf(pagination: Response['pagination'], count: number): string {
  if (!pagination) return '';
  if ('offset' in pagination) return `; increase offset by ${count} for the next ones`;
  return `; the next page begins after all of them, so ask again with limit ${count}`;
}

/** Returns the output with the longest texts that fit. */
function longestTexts(response: Response, most: number): string {
  // What is too long at one length is cut to it before shorter lengths are tried: all tries together take little time.
  let base = response;
  const length = largest(most, (one) => {
    const [shorter, output] = cutTexts(base, one);
    if (fits(output, most)) return true;
    base = shorter;
    return false;
  });
  return cutTexts(base, length)[1];
}

/** Returns a response whose texts are cut after a number of code points, and its output with a note. */
function cutTexts(response: Response, length: number): [shorter: Response, output: string] {
  const shorter = withShortTexts(response, length);
  const note = [response.note, `Texts are cut after ${length} characters.`].filter(Boolean).join(' ');
  return [shorter, JSON.stringify({ ...shorter, note })];
}

function fits(output: string, most: number): boolean {
  return Buffer.byteLength(output) <= most;
}

/** Returns the largest number up to `max` that passes, by bisection; 0 if none does. */
function largest(max: number, passes: (one: number) => boolean): number {
  let passing = 0;
  for (let failing = max + 1; failing - passing > 1; ) {
    const middle = Math.floor((passing + failing) / 2);
    if (passes(middle)) passing = middle;
    else failing = middle;
  }
  return passing;
}

/** Returns a value whose texts have at most `length` code points; a text that was cut ends with an ellipsis. */
function withShortTexts<Value>(value: Value, length: number): Value {
  return JSON.parse(JSON.stringify(value), (_, inner: unknown) =>
    typeof inner === 'string' ? shortened(inner, length) : inner,
  ) as Value;
}
