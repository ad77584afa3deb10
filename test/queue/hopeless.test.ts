import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';
import { isHopeless } from '../../lib/queue/hopeless.ts';

/** What something throws. */
function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

const named = (name: string, more: object = {}) => Object.assign(new Error('a fault'), { name, ...more });

describe('a failure', () => {
  it.each([
    ['JSON that is none', thrownBy(() => JSON.parse('{'))],
    ['a field of nothing', thrownBy(() => (undefined as unknown as { pk: string }).pk)],
    ['a time that is none', thrownBy(() => new Date(Number.NaN).toISOString())],
    ['a value outside its schema', thrownBy(() => v.parse(v.number(), 'one'))],
    ['an item that the table does not take', named('ValidationException', { $fault: 'client' })],
  ])('is hopeless where it is %s', (_, error) => {
    expect(error).toBeInstanceOf(Error);
    expect(isHopeless(error)).toBe(true);
  });

  it.each([
    ['throttling', named('ThrottlingException', { $fault: 'client' })],
    ['a missing right', named('AccessDeniedException', { $fault: 'client' })],
    ['a missing table', named('ResourceNotFoundException', { $fault: 'client' })],
    ['a fault of the table', named('InternalServerError', { $fault: 'server' })],
    ['a broken connection', named('Error', { code: 'ECONNRESET' })],
    ['a time-out', named('TimeoutError')],
    ['a busy service', new ApiError('unavailable', 'busy')],
    ['a queue that takes no message', new Error('SQS did not take a message.')],
    ['nothing that anybody knows', 'a text'],
  ])('may pass where it is %s', (_, error) => {
    expect(isHopeless(error)).toBe(false);
  });
});
