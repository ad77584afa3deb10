import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Context } from '../../lib/context.ts';
import { type Endpoint, endpoint } from '../../lib/contract/endpoint.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import { serve } from '../../lib/http/serve.ts';
import { AlreadyDone, transact } from '../../lib/table/transact.ts';
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

/** An external call. The test ends it. */
type Call = { number: string; end: (said: string) => void; fail: (error: Error) => void };

type Result = { said: string };

/** Creates an endpoint that calls out, an organization with a caller, and the list of the external calls. */
async function createCallingEndpoint({
  endpointRow = row,
  opened = app,
}: {
  endpointRow?: Endpoint;
  opened?: Context;
} = {}) {
  const { organization, token } = await newCaller(app);
  const calls: Call[] = [];
  const waiting: (() => void)[] = [];
  const handler = serve(
    endpointRow as typeof row,
    async ({ body, recordResponse }) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      calls.push({ number: body.number, end: resolve, fail: reject });
      for (const look of waiting) look();
      const result: Result = { said: await promise };
      if (recordResponse) await transact(table, [recordResponse(result)]);
      return result;
    },
    () => opened,
  );
  const sent = (number: string, key: string): Sent => ({
    method: 'POST',
    path: row.path,
    body: { number },
    token,
    headers: { 'Idempotency-Key': key },
  });
  return {
    organization,
    calls,
    send: (number = '1', key = 'key'): Promise<Answer> => call(handler, sent(number, key)),
    /** Sends a request with this time limit. */
    sendWithin: async (remainingMs: number) => {
      const context = { getRemainingTimeInMillis: () => remainingMs };
      const { statusCode } = await handler(eventOf(sent('1', 'key')), context as never);
      return statusCode;
    },
    /** Waits for the nth external call. */
    made: (nth: number): Promise<Call> =>
      new Promise((resolve) => {
        const look = () => {
          const one = calls[nth - 1];
          if (one) resolve(one);
        };
        waiting.push(look);
        look();
      }),
  };
}

const saidOf = (answer: Answer) => [
  dataOf<Result | undefined>(answer)?.said,
  answer.headers['Idempotency-Replayed'] === 'true',
];
const inProgress = [409, 'request_in_progress'];

describe('a request with an Idempotency-Key to an endpoint that calls out', () => {
  it('calls once; duplicates get request_in_progress until it ends, and then its response', async () => {
    const { send, made, calls } = await createCallingEndpoint();
    const first = send();
    const { end } = await made(1);
    const duplicates = await Promise.all(Array.from({ length: 9 }, () => send()));
    expect(duplicates.map(statusAndCodeOf)).toEqual(Array(9).fill(inProgress));
    expect(duplicates.map(({ headers }) => headers['Retry-After'])).toEqual(Array(9).fill('1'));
    end('hello');
    expect(saidOf(await first)).toEqual(['hello', false]);
    expect(saidOf(await send())).toEqual(['hello', true]);
    expect(calls).toHaveLength(1);
  });

  it('leads to 422 for another body, while the request is in progress and afterwards', async () => {
    const { send, made, calls } = await createCallingEndpoint();
    const first = send('1');
    const { end } = await made(1);
    expect(statusAndCodeOf(await send('2'))).toEqual([422, 'idempotency_key_reused']);
    end('hello');
    await first;
    expect(statusAndCodeOf(await send('2'))).toEqual([422, 'idempotency_key_reused']);
    expect(calls).toHaveLength(1);
  });
});

it('a duplicate that finds its key leased, and then no record, gets request_in_progress', async () => {
  const { table: taken } = watchedTable(table, ({ names }) => {
    if (names('leaseUntil')) throw new AlreadyDone();
  });
  const { send, calls } = await createCallingEndpoint({ opened: { ...app, table: taken } });
  expect(statusAndCodeOf(await send())).toEqual(inProgress);
  expect(calls).toHaveLength(0);
});

describe('an endpoint that does not call out', () => {
  it('takes no lease: duplicates run concurrently, and only one of them takes effect', async () => {
    const { callsOut: _, ...endpointRow } = row;
    const { send, made, calls } = await createCallingEndpoint({ endpointRow });
    const all = [send(), send()];
    const [one, other] = [await made(1), await made(2)];
    one.end('first');
    other.end('second');
    const answers = await Promise.all(all);
    expect(calls).toHaveLength(2);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(answers.map((answer) => dataOf<Result>(answer).said)).size).toBe(1);
  });
});

describe('the key of a failed request', () => {
  it.each([
    ['an ApiError', new ApiError('url_not_allowed', 'Not there.'), [422, 'url_not_allowed']],
    ['another error', new Error('The call failed.'), [500, 'internal_error']],
  ])('can be used again at once, with any body, after %s', async (_, error, expected) => {
    const { send, made } = await createCallingEndpoint();
    const first = send();
    (await made(1)).fail(error);
    expect(statusAndCodeOf(await first)).toEqual(expected);
    const second = send('2');
    (await made(2)).end('hello');
    expect(saidOf(await second)).toEqual(['hello', false]);
  });

  it('can be used again after its lease expires if the lease could not be deleted, and the response is the same', async () => {
    const { table: away } = watchedTable(table, ({ deletes }) => {
      if (deletes) throw new Error('The table is away.');
    });
    const { send, made } = await createCallingEndpoint({ opened: { ...app, table: away } });
    const first = send();
    (await made(1)).fail(new ApiError('url_not_allowed', 'Not there.'));
    expect(statusAndCodeOf(await first)).toEqual([422, 'url_not_allowed']);
    expect(statusAndCodeOf(await send())).toEqual(inProgress);
    clock.now += leaseMs;
    const second = send();
    (await made(2)).end('hello');
    expect(saidOf(await second)).toEqual(['hello', false]);
  });

  it('stays leased after a timeout, since the request may still be carried out', async () => {
    const { send, sendWithin, made } = await createCallingEndpoint();
    expect(await sendWithin(50)).toBe(503);
    await made(1);
    void made(2).then(({ end }) => end('again'));
    expect(statusAndCodeOf(await send())).toEqual(inProgress);
  });
});

describe('a request that does not end', () => {
  it('keeps its lease for 30 s, and then a duplicate is carried out', async () => {
    const { send, made } = await createCallingEndpoint();
    const lost = send();
    const { end } = await made(1);
    clock.now += leaseMs - 1;
    expect(statusAndCodeOf(await send())).toEqual(inProgress);
    clock.now += 1;
    const second = send();
    (await made(2)).end('hello');
    expect(saidOf(await second)).toEqual(['hello', false]);
    end('so late');
    await lost;
  });

  it('does not overwrite the response of the duplicate that took over: it responds with the same', async () => {
    const { send, made } = await createCallingEndpoint();
    const late = send();
    const { end } = await made(1);
    clock.now += leaseMs;
    const second = send();
    (await made(2)).end('second');
    await second;
    end('so late');
    expect(saidOf(await late)).toEqual(['second', true]);
    expect(saidOf(await send())).toEqual(['second', true]);
  });

  it.each([
    ['response', ({ end }: Call) => end('so late'), inProgress],
    ['error', ({ fail }: Call) => fail(new Error('The call failed.')), [500, 'internal_error']],
  ])('does not end the lease of the duplicate that took over by its %s', async (_, ending, expected) => {
    const { send, made } = await createCallingEndpoint();
    const late = send();
    const first = await made(1);
    clock.now += leaseMs;
    const second = send();
    const { end } = await made(2);
    ending(first);
    expect(statusAndCodeOf(await late)).toEqual(expected);
    expect(statusAndCodeOf(await send())).toEqual(inProgress);
    end('second');
    expect(saidOf(await second)).toEqual(['second', false]);
  });
});
