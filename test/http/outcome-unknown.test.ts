import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import { endpoint } from '../../lib/contract/endpoint.ts';
import { serve } from '../../lib/http/serve.ts';
import { openTable } from '../../lib/table/access/client.ts';
import { getItem } from '../../lib/table/access/reads.ts';
import { transact } from '../../lib/table/access/transact.ts';
import type { Write } from '../../lib/table/access/write.ts';
import { dataOf, errorOf } from '../api.ts';
import { closedEndpoint } from '../model/bedrock-server.ts';
import { type Answer, call, newCaller, openService } from '../service.ts';
import { cancelled, dynamodbError, inProgress } from '../table/fixtures/dynamodb-errors.ts';
import { loseResponses, startTableServer } from '../table/fixtures/table-server.ts';

const { app, tableName, table } = await openService();
const { token } = await newCaller(app);
const engine = await startTableServer(table);
const openReachable = () => ({ ...openTable(tableName, engine.endpoint), sleep: async () => {} });
const reachable = openReachable();
afterEach(() => engine.reset());

const row = endpoint({
  method: 'POST',
  path: '/api/changes',
  scope: 'tasks:write',
  summary: 'Change something',
  body: v.object({}),
  status: 200,
  data: v.object({ done: v.boolean() }),
});

/** The retries of the SDK, three tries in all, without its pauses. */
const retryToken = (count: number) => ({ getRetryCount: () => count, getRetryDelay: () => 0, getRetryCost: () => 0 });
const withoutPauses = {
  acquireInitialRetryToken: async () => retryToken(0),
  refreshRetryTokenForRetry: async (token: { getRetryCount: () => number }) => {
    if (token.getRetryCount() === 2) throw new Error('No more tries.');
    return retryToken(token.getRetryCount() + 1);
  },
  recordSuccess: () => {},
};

let count = 0;
const key = () => ({ pk: `p-${++count}`, sk: 's' });
const add = (Key = key()): Write => ({
  Update: { Key, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } },
});
const two = () => [add(), add()];
const put = (): Write => ({
  Put: { Item: key(), ConditionExpression: 'attribute_not_exists(pk)' },
  onConditionFailed: () => new Error('It is there.'),
});

function carryOut(
  act: (record: readonly Write[]) => Promise<unknown>,
  headers: Record<string, string> = {},
  endpointRow = row,
  table = reachable,
): Promise<Answer> {
  const handler = serve(
    endpointRow,
    async ({ recordResponse }) => {
      await act(recordResponse?.({ done: true }) ?? []);
      return { done: true };
    },
    // Without the tokens that were read before.
    () => ({ ...app, cachedTokens: new Map(), table }),
  );
  return call(handler, { method: 'POST', path: row.path, body: {}, token, headers });
}

/** Returns the status, code and message of a 503. It says when to retry, and does not name the cause. */
function errorPartsOf(answer: Answer) {
  expect(answer.headers['Retry-After']).toMatch(/^[1-9]\d*$/);
  expect(JSON.stringify(answer)).not.toMatch(/Throttl|Rate exceeded|exceeded the configured/);
  return [answer.status, errorOf(answer)?.code, errorOf(answer)?.message];
}
const unknown = /^The service is busy, and it is not known whether the request was processed, in whole or in part\./;
const isKnown = [503, 'unavailable', 'The service is busy; nothing was changed. Try again shortly.'];
const isUnknown = [503, 'unavailable', expect.stringMatching(unknown)];

/** Returns a client of the table whose requests of one kind fail with an error of DynamoDB. */
function failing(kind: RegExp, error: Error = throttled()) {
  const table = openReachable();
  table.client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (sent) => {
        if (kind.test(commandName)) throw error;
        return next(sent);
      },
    { step: 'initialize', priority: 'high' },
  );
  return table;
}
const throttled = () => dynamodbError('ThrottlingException');
const conflicts = () => cancelled('TransactionConflict', 'None');
const timedOut = () => Object.assign(new Error('exceeded the configured timeout'), { name: 'TimeoutError' });

/** Writes, and then does something that fails. */
const afterWrite = (act: () => Promise<unknown>) => () => transact(reachable, [put()]).then(act);

/** Loses the responses to all writes of a function. */
const withoutResponse = (act: () => Promise<unknown>) => () => {
  loseResponses(engine, { count: Number.POSITIVE_INFINITY });
  return act();
};

describe('a 503 says that nothing was changed', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a read that is throttled, after that of the token', () => getItem(failing(/^Get/), key())],
    ['a write that is throttled', () => transact(failing(/^Update/), [add()])],
    ['a transaction that is throttled', () => transact(failing(/^Transact/), two())],
    ['a transaction with conflicts', () => transact(failing(/^Transact/, conflicts()), two())],
    ['a write to an unreachable table', async () => transact(openTable(tableName, await closedEndpoint()), [add()])],
    ['a timeout of an AWS service before the first write', () => Promise.reject(timedOut())],
  ])('after %s', async (_, act) => {
    expect(errorPartsOf(await carryOut(act))).toEqual(isKnown);
  });

  it('after a read of the token that is throttled', async () => {
    const answer = await carryOut(() => expect.unreachable(), {}, row, failing(/^Get/));
    expect(errorPartsOf(answer)).toEqual(isKnown);
  });
});

describe('a 503 says that the outcome is not known', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a write that is throttled after a write', afterWrite(() => transact(failing(/^Update/), [add()]))],
    ['a transaction that is throttled after a write', afterWrite(() => transact(failing(/^Transact/), two()))],
    ['a read that is throttled after a write', afterWrite(() => getItem(failing(/^Get/), key()))],
    ['a timeout of an AWS service after a write', afterWrite(() => Promise.reject(timedOut()))],
    [
      'a transaction that is in progress at its last attempt',
      () => transact(failing(/^Transact/, inProgress()), two()),
    ],
    ['a single write without a response to any attempt', withoutResponse(() => transact(reachable, [put()]))],
    ['a transaction without a response to any attempt', withoutResponse(() => transact(reachable, two()))],
  ])('after %s', async (_, act) => {
    expect(errorPartsOf(await carryOut(act))).toEqual(isUnknown);
  });

  it('after a write whose response was lost and whose later attempts are throttled', async () => {
    const table = openReachable();
    table.client.config.retryStrategy = async () => withoutPauses;
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
    expect(errorPartsOf(await carryOut(withoutResponse(() => transact(table, [put()]))))).toEqual(isUnknown);
  });
});

describe('a request with an Idempotency-Key whose outcome is not known', () => {
  const headers = () => ({ 'Idempotency-Key': `key-${++count}` });

  it('gets the response of its record if it was carried out', async () => {
    const Key = key();
    const act = async (record: readonly Write[]) => {
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
      await getItem(failing(/^Get/), { pk: 'p', sk: 's' });
    };
    expect(errorPartsOf(await carryOut(partly, key))).toEqual(isUnknown);
    expect((await carryOut((record) => transact(reachable, [add(), ...record]), key)).status).toBe(200);
  });
});
