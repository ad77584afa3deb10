import { TransactionInProgressException } from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import { endpoint } from '../../lib/contract/endpoint.ts';
import { serve } from '../../lib/http/serve.ts';
import { openTable } from '../../lib/table/client.ts';
import { getItem } from '../../lib/table/reads.ts';
import { transact } from '../../lib/table/transact.ts';
import type { Write } from '../../lib/table/write.ts';
import { dataOf, errorOf } from '../api.ts';
import { loseResponses, startEngineProxy } from '../engine-proxy.ts';
import { closedEndpoint } from '../model/bedrock-server.ts';
import { type Answer, call, eventOf, newCaller, openService } from '../service.ts';
import { cancelled, dynamodbError } from '../table/fixtures/dynamodb-errors.ts';

const { app, tableName, endpoint: engineEndpoint } = await openService();
const { token } = await newCaller(app);
const engine = await startEngineProxy(engineEndpoint);
const reachable = { ...openTable(tableName, engine.endpoint), sleep: async () => {} };
afterEach(() => engine.reset());

const nothingChanged = 'The service is busy; nothing was changed. Try again shortly.';
const unknown = /^The service is busy, and it is not known whether the request was processed, in whole or in part\./;

const row = endpoint({
  method: 'POST',
  path: '/api/changes',
  scope: 'tasks:write',
  summary: 'Change something',
  body: v.object({}),
  status: 200,
  data: v.object({ done: v.boolean() }),
});

let count = 0;
const key = () => ({ pk: `p-${++count}`, sk: 's' });
const add = (Key = key()): Write => ({
  Update: { Key, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } },
});
const put = (onConditionFailed = () => new Error('It is there.')): Write => ({
  Put: { Item: key(), ConditionExpression: 'attribute_not_exists(pk)' },
  onConditionFailed,
});

/** Sends a request to an endpoint with this behaviour, whose table can be made to fail. */
function carryOut(
  act: (record: Write[]) => Promise<unknown>,
  headers: Record<string, string> = {},
  endpointRow = row,
): Promise<Answer> {
  const handler = serve(
    endpointRow,
    async ({ recordResponse }) => {
      await act(recordResponse ? [recordResponse({ done: true })] : []);
      return { done: true };
    },
    () => ({ ...app, table: reachable }),
  );
  return call(handler, { method: 'POST', path: row.path, body: {}, token, headers });
}

/** Returns the status, code and message of a 503. It says when to retry, and does not name the cause. */
function errorPartsOf(answer: Answer) {
  expect(answer.headers['Retry-After']).toMatch(/^[1-9]\d*$/);
  expect(JSON.stringify(answer)).not.toMatch(/Throttl|Rate exceeded|exceeded the configured/);
  return [answer.status, errorOf(answer)?.code, errorOf(answer)?.message];
}
const isKnown = [503, 'unavailable', nothingChanged];
const isUnknown = [503, 'unavailable', expect.stringMatching(unknown)];

/** Returns a client of the table whose requests of one kind fail with an error of DynamoDB, starting with the nth. */
function failing(kind: RegExp, error: Error, from = 0) {
  const table = { ...openTable(tableName, engine.endpoint), sleep: async () => {} };
  let seen = 0;
  table.client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (sent) => {
        if (kind.test(commandName) && seen++ >= from) throw error;
        return next(sent);
      },
    { step: 'initialize', priority: 'high' },
  );
  return table;
}
const throttled = () => dynamodbError('ThrottlingException');
const inProgress = () =>
  new TransactionInProgressException({ message: 'In progress.', Message: 'In progress.', $metadata: {} });

describe('a 503 says that nothing was changed', () => {
  it.each([
    ['a read that is throttled', () => getItem(failing(/^Get/, throttled()), key())],
    ['a write that is throttled', () => transact(failing(/^Update/, throttled()), [add()])],
    ['a transaction that is throttled', () => transact(failing(/^Transact/, throttled()), [add(), add()])],
    [
      'a transaction with conflicts',
      () => transact(failing(/^Transact/, cancelled('TransactionConflict', 'None')), [add(), add()]),
    ],
  ])('after %s', async (_, act) => {
    expect(errorPartsOf(await carryOut(act))).toEqual(isKnown);
  });

  it('after a read that fails before the first write', async () => {
    const table = failing(/^Get/, throttled(), 1);
    const act = async () => {
      await getItem(table, key());
      await getItem(table, key());
      await transact(reachable, [add()]);
    };
    expect(errorPartsOf(await carryOut(act))).toEqual(isKnown);
  });

  it('after a read of the token that is throttled', async () => {
    // Without the tokens that were read before.
    const context = { ...app, cachedTokens: new Map(), table: failing(/^Get/, throttled()) };
    const handler = serve(
      row,
      () => expect.unreachable(),
      () => context,
    );
    const answer = await call(handler, { method: 'POST', path: row.path, body: {}, token });
    expect(errorPartsOf(answer)).toEqual(isKnown);
  });

  it('after a write to an unreachable table', async () => {
    const away = openTable(tableName, await closedEndpoint());
    expect(errorPartsOf(await carryOut(() => transact(away, [add()])))).toEqual(isKnown);
  });
});

describe('a 503 says that the outcome is not known', () => {
  it.each([
    ['write', (table: typeof reachable) => transact(table, [add()]), /^Update/],
    ['transaction', (table: typeof reachable) => transact(table, [add(), add()]), /^Transact/],
    ['read', (table: typeof reachable) => getItem(table, key()), /^Get/],
  ])('after a %s that is throttled after a successful write', async (_, act, kind) => {
    const partly = async () => {
      await transact(reachable, [put()]);
      await act(failing(kind, throttled()));
    };
    expect(errorPartsOf(await carryOut(partly))).toEqual(isUnknown);
  });

  it('after a transaction that is still in progress at its last attempt', async () => {
    expect(errorPartsOf(await carryOut(() => transact(failing(/^Transact/, inProgress()), [add(), add()])))).toEqual(
      isUnknown,
    );
  });

  it.each([
    ['single write', () => [put()]],
    ['transaction', () => [add(), add()]],
  ])('after a %s without a response to any attempt', async (_, items) => {
    loseResponses(engine, { count: Number.POSITIVE_INFINITY });
    expect(errorPartsOf(await carryOut(() => transact(reachable, items())))).toEqual(isUnknown);
  });

  it('after a write whose response was lost and whose later attempts are throttled', async () => {
    const table = { ...openTable(tableName, engine.endpoint), sleep: async () => {} };
    table.client.middlewareStack.add(
      (next) => {
        let tries = 0;
        return async (sent) => {
          if (tries++ > 0) throw Object.assign(throttled(), { $metadata: { httpStatusCode: 400 } });
          return next(sent);
        };
      },
      // Inside the retries of the SDK, and inside the middleware that notes lost responses.
      { step: 'deserialize', priority: 'high' },
    );
    table.client.config.retryStrategy = async () => immediate;
    loseResponses(engine, { count: Number.POSITIVE_INFINITY });
    expect(errorPartsOf(await carryOut(() => transact(table, [put()])))).toEqual(isUnknown);
  });
});

/** Retries without a delay, three attempts in total. */
const immediate = {
  acquireInitialRetryToken: async () => retryToken(0),
  refreshRetryTokenForRetry: async (token: { getRetryCount: () => number }) => {
    if (token.getRetryCount() === 2) throw new Error('No more tries.');
    return retryToken(token.getRetryCount() + 1);
  },
  recordSuccess: () => {},
};
const retryToken = (count: number) => ({ getRetryCount: () => count, getRetryDelay: () => 0, getRetryCost: () => 0 });

describe('a request with an Idempotency-Key whose outcome is not known', () => {
  const headers = () => ({ 'Idempotency-Key': `key-${++count}` });

  it('gets the response of its record if it was carried out', async () => {
    const Key = key();
    const act = async (record: Write[]) => {
      loseResponses(engine, { count: Number.POSITIVE_INFINITY });
      await transact(reachable, [add(Key), ...record]).finally(() => engine.reset());
    };
    const answer = await carryOut(act, headers());
    expect([answer.status, dataOf<unknown>(answer)]).toEqual([200, { done: true }]);
    expect((await getItem(reachable, Key))?.n).toBe(1);
  });

  it('gets the 503, and not request_in_progress, if the write of its lease has no response', async () => {
    loseResponses(engine, { count: Number.POSITIVE_INFINITY });
    const callsOut = { ...row, callsOut: true } as typeof row;
    expect(errorPartsOf(await carryOut(() => expect.unreachable(), headers(), callsOut))).toEqual(isUnknown);
  });

  it('gets the 503 if there is no record, and can be repeated', async () => {
    const key = headers();
    const partly = async () => {
      await transact(reachable, [add()]);
      await getItem(failing(/^Get/, throttled()), { pk: 'p', sk: 's' });
    };
    expect(errorPartsOf(await carryOut(partly, key))).toEqual(isUnknown);
    expect((await carryOut((record) => transact(reachable, [add(), ...record]), key)).status).toBe(200);
  });
});

describe('a timeout of an AWS service', () => {
  const timedOut = () => Object.assign(new Error('exceeded the configured timeout'), { name: 'TimeoutError' });

  it.each([
    ['before the first write', async () => {}, isKnown],
    ['after a write', () => transact(reachable, [add()]), isUnknown],
  ])('leads to 503 %s', async (_, before, expected) => {
    const act = async () => {
      await before();
      throw timedOut();
    };
    expect(errorPartsOf(await carryOut(act))).toEqual(expected);
  });
});

describe('a request that exceeds its time limit', () => {
  it.each([
    ['GET', 'The request took too long, and nothing was changed. Try again shortly.'],
    ['POST', expect.stringMatching(/^The request took too long, and it is not known whether/)],
    ['DELETE', expect.stringMatching(/^The request took too long, and it is not known whether/)],
  ] as const)('gets a message that depends on its method: %s', async (method, message) => {
    const never = endpoint({ method, path: '/api/never', scope: 'tasks:write', summary: 'Never answers', status: 200 });
    const handler = serve(
      never,
      () => new Promise(() => {}),
      () => app,
    );
    const { statusCode, body } = await handler({ ...eventOf({ method, path: '/api/never', token }) }, {
      getRemainingTimeInMillis: () => 500,
    } as never);
    expect([statusCode, JSON.parse(body as string).error.message]).toEqual([503, message]);
  });
});
