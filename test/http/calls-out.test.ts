import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { App } from '../../lib/app.ts';
import { type Endpoint, endpoint } from '../../lib/contract/endpoint.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import { serve } from '../../lib/http/serve.ts';
import { AlreadyDone, transact } from '../../lib/table/transact.ts';
import { dataOf, errorOf } from '../api.ts';
import { type Answer, call, clockAt, eventOf, newCaller, openService, type Sent } from '../service.ts';
import { watchedTable } from '../table/watched-table.ts';

const leaseMs = 30_000;
const clock = clockAt(Date.parse('2026-03-01T12:00:00.000Z'));
const { app, table } = await openService(clock);

const row = endpoint({
  method: 'POST',
  path: '/api/calls',
  scope: 'tasks:write',
  summary: 'Call somebody',
  body: v.object({ number: v.string() }),
  status: 200,
  data: v.object({ said: v.string() }),
  callsOut: true,
});

/** A call that was made: the test says how it ends. */
type Call = { number: string; end: (said: string) => void; fail: (error: Error) => void };

type Result = { said: string };

/** An endpoint that calls out, a caller of it with an organization of its own, and the calls that it made. */
async function newPhone({ served = row, opened = app }: { served?: Endpoint; opened?: App } = {}) {
  const { organization, token } = await newCaller(app);
  const calls: Call[] = [];
  const waiting: (() => void)[] = [];
  const handler = serve(
    served as typeof row,
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
    /** Sends a request that has so much time and no more. */
    sendWithin: async (remainingMs: number) => {
      const context = { getRemainingTimeInMillis: () => remainingMs };
      const { statusCode } = await handler(eventOf(sent('1', 'key')), context as never);
      return statusCode;
    },
    /** The nth call, once it is made. */
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

const codeOf = (answer: Answer) => [answer.status, errorOf(answer)?.code];
const saidOf = (answer: Answer) => [
  dataOf<Result | undefined>(answer)?.said,
  answer.headers['Idempotency-Replayed'] === 'true',
];
const inProgress = [409, 'request_in_progress'];

describe('a request that calls out under an Idempotency-Key', () => {
  it('calls once while its twins are told to wait, and is replayed afterwards', async () => {
    const { send, made, calls } = await newPhone();
    const first = send();
    const { end } = await made(1);
    const twins = await Promise.all(Array.from({ length: 9 }, () => send()));
    expect(twins.map(codeOf)).toEqual(Array(9).fill(inProgress));
    expect(twins.map(({ headers }) => headers['Retry-After'])).toEqual(Array(9).fill('1'));
    end('hello');
    expect(saidOf(await first)).toEqual(['hello', false]);
    expect(saidOf(await send())).toEqual(['hello', true]);
    expect(calls).toHaveLength(1);
  });

  it('calls once of ten that come at the same moment', async () => {
    const { send, made, calls } = await newPhone();
    const all = Array.from({ length: 10 }, () => send());
    (await made(1)).end('hello');
    const answers = await Promise.all(all);
    expect(calls).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200 && !saidOf(answer)[1])).toHaveLength(1);
    for (const answer of answers)
      if (answer.status === 200) expect(dataOf<Result>(answer).said).toBe('hello');
      else expect(codeOf(answer)).toEqual(inProgress);
  });

  it('is refused with 422 for another body, while it is under way and after', async () => {
    const { send, made, calls } = await newPhone();
    const first = send('1');
    const { end } = await made(1);
    expect(codeOf(await send('2'))).toEqual([422, 'idempotency_key_reused']);
    end('hello');
    await first;
    expect(codeOf(await send('2'))).toEqual([422, 'idempotency_key_reused']);
    expect(calls).toHaveLength(1);
  });

  it('keeps no other key waiting', async () => {
    const { send, made } = await newPhone();
    const first = send('1', 'one');
    const { end } = await made(1);
    const second = send('1', 'other');
    (await made(2)).end('second');
    expect(saidOf(await second)).toEqual(['second', false]);
    end('first');
    expect(saidOf(await first)).toEqual(['first', false]);
  });

  it("keeps no other organization's request waiting", async () => {
    const [one, other] = [await newPhone(), await newPhone()];
    const first = one.send();
    const { end } = await one.made(1);
    const theirs = other.send();
    (await other.made(1)).end('theirs');
    expect(saidOf(await theirs)).toEqual(['theirs', false]);
    end('ours');
    expect(saidOf(await first)).toEqual(['ours', false]);
  });
});

it('a twin that finds its key taken, and then free, is told to ask again', async () => {
  const { table: taken } = watchedTable(table, ({ names }) => {
    if (names('leaseUntil')) throw new AlreadyDone();
  });
  const { send, calls } = await newPhone({ opened: { ...app, table: taken } });
  expect(codeOf(await send())).toEqual(inProgress);
  expect(calls).toHaveLength(0);
});

describe('a row that does not call out', () => {
  it('is not noted as under way: twins are carried out side by side, and one of them counts', async () => {
    const { callsOut: _, ...served } = row;
    const { send, made, calls } = await newPhone({ served });
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

describe('the key of a request that came to nothing', () => {
  it.each([
    ['a refusal', new ApiError('url_not_allowed', 'Not there.'), [422, 'url_not_allowed']],
    ['an error', new Error('The line is dead.'), [500, 'internal_error']],
  ])('is free again at once after %s', async (_, error, refused) => {
    const { send, made } = await newPhone();
    const first = send();
    (await made(1)).fail(error);
    expect(codeOf(await first)).toEqual(refused);
    const second = send();
    (await made(2)).end('hello');
    expect(saidOf(await second)).toEqual(['hello', false]);
  });

  it('is free again for another body too', async () => {
    const { send, made } = await newPhone();
    const first = send('1');
    (await made(1)).fail(new Error('The line is dead.'));
    await first;
    const second = send('2');
    (await made(2)).end('hello');
    expect((await second).status).toBe(200);
  });

  it('is free when its lease ends where it could not be given back, and the answer is the same', async () => {
    const { table: away } = watchedTable(table, ({ deletes }) => {
      if (deletes) throw new Error('The table is away.');
    });
    const { send, made } = await newPhone({ opened: { ...app, table: away } });
    const first = send();
    (await made(1)).fail(new ApiError('url_not_allowed', 'Not there.'));
    expect(codeOf(await first)).toEqual([422, 'url_not_allowed']);
    expect(codeOf(await send())).toEqual(inProgress);
    clock.now += leaseMs;
    const second = send();
    (await made(2)).end('hello');
    expect(saidOf(await second)).toEqual(['hello', false]);
  });

  it('stays taken where the time ran out, for what was begun may still be carried out', async () => {
    const { send, sendWithin, made } = await newPhone();
    expect(await sendWithin(50)).toBe(503);
    await made(1);
    void made(2).then(({ end }) => end('again'));
    expect(codeOf(await send())).toEqual(inProgress);
  });
});

describe('a request that never ends', () => {
  it('keeps its key for 30 s, and then another is carried out', async () => {
    const { send, made } = await newPhone();
    const lost = send();
    const { end } = await made(1);
    clock.now += leaseMs - 1;
    expect(codeOf(await send())).toEqual(inProgress);
    clock.now += 1;
    const second = send();
    (await made(2)).end('hello');
    expect(saidOf(await second)).toEqual(['hello', false]);
    end('so late');
    await lost;
  });

  it('cannot overwrite the answer of the one that took its place: it answers the same', async () => {
    const { send, made } = await newPhone();
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
    ['answer', ({ end }: Call) => end('so late'), inProgress],
    ['error', ({ fail }: Call) => fail(new Error('The line is dead.')), [500, 'internal_error']],
  ])('does not take the key from the one in its place by its %s', async (_, ending, told) => {
    const { send, made } = await newPhone();
    const late = send();
    const first = await made(1);
    clock.now += leaseMs;
    const second = send();
    const { end } = await made(2);
    ending(first);
    expect(codeOf(await late)).toEqual(told);
    expect(codeOf(await send())).toEqual(inProgress);
    end('second');
    expect(saidOf(await second)).toEqual(['second', false]);
  });
});
