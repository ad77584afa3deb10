import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import type { Context } from '../../lib/context/context.ts';
import { type Endpoint, endpoint } from '../../lib/contract/endpoint.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import { serve } from '../../lib/http/serve.ts';
import { AlreadyDone, transact } from '../../lib/table/access/transact.ts';
import { dataOf, statusAndCodeOf } from '../api.ts';
import { type Answer, call, clockAt, eventOf, newCaller, openService, type Sent } from '../service.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';

const leaseMs = 30_000;
const clock = clockAt(Date.parse('2026-03-01T12:00:00.000Z'));
const { app, table } = await openService(clock);

const row = endpoint({
  method: 'POST',
  path: '/api/calls',
  scope: 'tasks:write',
  summary: 'Call a number',
  body: v.object({ number: v.string() }),
  status: 200,
  data: v.object({ said: v.string() }),
  callsOut: true,
});

/** Creates an endpoint whose external calls end when a test says so, and a caller that sends the same request to it. */
async function createCallingEndpoint(endpointRow: Endpoint = row, context: Context = app) {
  const { token } = await newCaller(app);
  const calls: PromiseWithResolvers<string>[] = [];
  const handler = serve(
    endpointRow as typeof row,
    async ({ recordResponse }) => {
      const external = Promise.withResolvers<string>();
      calls.push(external);
      const result = { said: await external.promise };
      if (recordResponse) await transact(table, recordResponse(result));
      return result;
    },
    () => context,
  );
  const sent = (number = '1'): Sent => ({
    ...{ method: 'POST', path: row.path, body: { number }, token, headers: { 'Idempotency-Key': 'key' } },
  });
  const send = (number?: string): Promise<Answer> => call(handler, sent(number));
  const made = (nth: number) =>
    vi.waitFor(() => calls[nth - 1] ?? expect.unreachable('The call was not made.'), { interval: 1 });
  return { calls, handler, sent, send, made };
}

const saidOf = (answer: Answer) => [
  dataOf<{ said: string } | undefined>(answer)?.said,
  answer.headers['Idempotency-Replayed'] === 'true',
];
const inProgress = [409, 'request_in_progress'];

// test/table/idempotency.test.ts has the rules of leases: how long they last, and which worker may record a response.
describe('a request with an Idempotency-Key to an endpoint that calls out', () => {
  it('calls once; duplicates get request_in_progress until it ends, and then its response', async () => {
    const { send, made, calls } = await createCallingEndpoint();
    const first = send();
    const { resolve } = await made(1);
    const duplicates = await Promise.all(Array.from({ length: 9 }, () => send()));
    expect(duplicates.map(statusAndCodeOf)).toEqual(Array(9).fill(inProgress));
    expect(duplicates.map(({ headers }) => headers['Retry-After'])).toEqual(Array(9).fill('1'));
    expect(statusAndCodeOf(await send('2'))).toEqual([422, 'idempotency_key_reused']);
    resolve('hello');
    expect(saidOf(await first)).toEqual(['hello', false]);
    expect(saidOf(await send())).toEqual(['hello', true]);
    expect(statusAndCodeOf(await send('2'))).toEqual([422, 'idempotency_key_reused']);
    expect(calls).toHaveLength(1);
  });

  it('gets request_in_progress if it finds its key leased, and then no record', async () => {
    const { table: taken } = watchedTable(table, ({ names }) => {
      if (names('leaseUntil')) throw new AlreadyDone();
    });
    const { send, calls } = await createCallingEndpoint(row, { ...app, table: taken });
    expect(statusAndCodeOf(await send())).toEqual(inProgress);
    expect(calls).toHaveLength(0);
  });

  it.each([
    ['request_in_progress while the duplicate that took over its lease is in progress', false, inProgress],
    ['the response of the duplicate that took over its lease and has ended', true, [200, undefined]],
  ])('gets %s', async (_, hasEnded, expected) => {
    const { send, made } = await createCallingEndpoint();
    const late = send();
    const { resolve } = await made(1);
    clock.now += leaseMs;
    const second = send();
    const { resolve: endSecond } = await made(2);
    if (hasEnded) endSecond('second');
    if (hasEnded) await second;
    resolve('so late');
    expect(statusAndCodeOf(await late)).toEqual(expected);
    endSecond('second');
    expect(saidOf(await second)).toEqual(['second', false]);
    if (hasEnded) expect(saidOf(await late)).toEqual(['second', true]);
  });
});

it('an endpoint that does not call out takes no lease: of concurrent duplicates, only one takes effect', async () => {
  const { callsOut, ...endpointRow } = row;
  const { send, made } = await createCallingEndpoint(endpointRow);
  const all = [send(), send()];
  const [one, other] = [await made(1), await made(2)];
  one.resolve('first');
  other.resolve('second');
  const answers = await Promise.all(all);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(new Set(answers.map((answer) => saidOf(answer)[0])).size).toBe(1);
});

describe('the key of a failed request', () => {
  it.each([
    ['an ApiError', new ApiError('url_not_allowed', 'Not there.'), [422, 'url_not_allowed']],
    ['another error', new Error('The call failed.'), [500, 'internal_error']],
  ])('can be used again at once, with any body, after %s', async (_, error, expected) => {
    const { send, made } = await createCallingEndpoint();
    const first = send();
    (await made(1)).reject(error);
    expect(statusAndCodeOf(await first)).toEqual(expected);
    const second = send('2');
    (await made(2)).resolve('hello');
    expect(saidOf(await second)).toEqual(['hello', false]);
  });

  it('stays leased if the lease cannot be deleted, and the response is the same', async () => {
    const { table: away } = watchedTable(table, ({ deletes }) => {
      if (deletes) throw new Error('The table is away.');
    });
    const { send, made } = await createCallingEndpoint(row, { ...app, table: away });
    const first = send();
    (await made(1)).reject(new ApiError('url_not_allowed', 'Not there.'));
    expect(statusAndCodeOf(await first)).toEqual([422, 'url_not_allowed']);
    expect(statusAndCodeOf(await send())).toEqual(inProgress);
  });

  it('stays leased after a timeout, since the request may still be carried out', async () => {
    const { handler, sent, send, made } = await createCallingEndpoint();
    const answer = await handler(eventOf(sent()), { getRemainingTimeInMillis: () => 50 } as never);
    expect(answer.statusCode).toBe(503);
    await made(1);
    expect(statusAndCodeOf(await send())).toEqual(inProgress);
  });
});
