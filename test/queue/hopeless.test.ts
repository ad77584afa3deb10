import * as v from 'valibot';
import { expect, it } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';
import { isHopeless } from '../../lib/queue/hopeless.ts';

/** Returns the error that a function throws. */
function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

const named = (name: string, more: object = {}) => Object.assign(new Error('a fault'), { name, ...more });

it.each([
  ['invalid JSON', errorOf(() => JSON.parse('{'))],
  ['a field of nothing', errorOf(() => (undefined as unknown as { pk: string }).pk)],
  ['an invalid time', errorOf(() => new Date(Number.NaN).toISOString())],
  ['a value outside its schema', errorOf(() => v.parse(v.number(), 'one'))],
  ['an item that the table rejects', named('ValidationException', { $fault: 'client', $response: {} })],
])('%s will fail at each retry', (_, error) => {
  expect([error instanceof Error, isHopeless(error)]).toEqual([true, true]);
});

it.each([
  ['throttling', named('ThrottlingException', { $fault: 'client' })],
  ['a missing right', named('AccessDeniedException', { $fault: 'client' })],
  ['a broken connection', named('Error', { code: 'ECONNRESET' })],
  ['a time-out', named('TimeoutError')],
  ['a busy service', new ApiError('unavailable', 'busy')],
  ['an unknown value', 'a text'],
])('%s may pass', (_, error) => {
  expect(isHopeless(error)).toBe(false);
});
