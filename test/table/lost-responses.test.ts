import { randomUUID } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { ulid } from 'ulid';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import type { Webhook } from '../../lib/contract/webhooks.ts';
import { findDifferences, repairDifferences } from '../../lib/reconcile/differences.ts';
import { headOf } from '../../lib/table/agents/agent-items.ts';
import { insertAgentSkill } from '../../lib/table/agents/agents.ts';
import { endImprovementLease, leaseImprovement } from '../../lib/table/agents/improvements.ts';
import { openTable } from '../../lib/table/client.ts';
import { closeAttemptCounts, readAttemptCounts } from '../../lib/table/deliveries/attempt-counts.ts';
import { attemptKey } from '../../lib/table/deliveries/attempt-items.ts';
import {
  beginAttempt,
  findAttempt,
  insertAttempt,
  placeOf,
  unlistAttempt,
} from '../../lib/table/deliveries/attempt-log.ts';
import { appendEvent, readEvents } from '../../lib/table/deliveries/event-log.ts';
import { writeHeartbeat } from '../../lib/table/deliveries/heartbeat.ts';
import { leaseSlowAttempt, markWebhookSlow, updatePace } from '../../lib/table/deliveries/webhook-attempts.ts';
import { insertWebhook, readTarget } from '../../lib/table/deliveries/webhooks.ts';
import { leaseExecution, readExecutionHead, renewLease, returnLease } from '../../lib/table/executions/executions.ts';
import {
  deleteIdempotencyLease,
  idempotencyRecordWrite,
  leaseIdempotencyRecord,
  readIdempotencyRecord,
} from '../../lib/table/idempotency.ts';
import { type Key, keys } from '../../lib/table/keys.ts';
import { postponeDue, sweep } from '../../lib/table/lists/due.ts';
import { takeFromBucket } from '../../lib/table/organizations/request-bucket.ts';
import { changeSettings, readSettings, replaceDefaultModel } from '../../lib/table/organizations/settings.ts';
import { insertToken } from '../../lib/table/organizations/token-writes.ts';
import { readStoredToken, revokeStoredToken } from '../../lib/table/organizations/tokens.ts';
import { agentPurgeWrite, purgePartition, taskPurgeWrite } from '../../lib/table/purges/purge-items.ts';
import { purgeAgent } from '../../lib/table/purges/purges.ts';
import { getItem, getItems, queryItems } from '../../lib/table/reads.ts';
import { purgeTask } from '../../lib/table/tasks/task-removal.ts';
import { AlreadyDone, Conflict, transact } from '../../lib/table/transact.ts';
import { OutcomeUnknown } from '../../lib/table/unavailable.ts';
import type { Write } from '../../lib/table/write.ts';
import { createTask, updateTask } from '../../lib/tasks/tasks.ts';
import { loseResponses, startEngineProxy, writes } from '../engine-proxy.ts';
import { openService } from '../service.ts';
import { streamed } from '../table-stream.ts';
import { attemptFor, newMessage } from './deliveries/attempt-seed.ts';
import { at, createExecutionTable, lease } from './executions/execution-table.ts';
import { always, newTask } from './tasks/test-table.ts';

const board = await createExecutionTable();
const { table, organization, clock } = board;
const engine = await startEngineProxy(board.engine);
/** The same table with a connection whose responses can be lost. */
const lossy = openTable(table.name, engine.endpoint);
afterEach(() => engine.reset());

const ulidNow = () => ulid(clock());
const context = { table: lossy, batchers: {}, clock };
/** The context of the same table, without lost answers. */
const reliable = { table, batchers: {} };

const putWebhook = async (): Promise<Webhook> => {
  const fields = { url: 'https://example.com/', active: true, createdAt: at(0) };
  const webhook: Webhook = { ...fields, id: `wh_${ulidNow()}`, events: ['task.created'] };
  await insertWebhook({ table }, organization, webhook, undefined, undefined);
  return webhook;
};
const newAttempt = () => newMessage(organization, { deliveryId: `dlv_${ulidNow()}`, dueAt: at(0) });
/** Writes a failed attempt, and returns the message of its retry. */
const failedAttempt = async () => {
  const message = newAttempt();
  await insertAttempt(reliable, attemptFor(message, { retry: { nextAttemptAt: at(300), dueAt: at(360) } }));
  return { ...message, attempt: 2, dueAt: at(300), listedBy: attemptKey(placeOf(message)).sk };
};
const isListed = async (key: Key) => 'due' in ((await getItem(table, key)) ?? {});
const newRequest = () => ({ key: randomUUID(), operation: 'POST /calls', path: '/calls', body: {} });
const newToken = () => ({ id: randomUUID(), hash: 'h', organization, scopes: [], createdAt: at(0) });
const putPurge = async (dueAt = at(60)) => {
  const agent = ulidNow();
  await transact(table, [agentPurgeWrite({ organization, agentId: `ag_${agent}` }, dueAt)]);
  return keys.purge(organization, agent);
};
const dayMs = 24 * 60 * 60 * 1000;

/** All single writes of stores: a title, a function that prepares and returns the write, and its expected result. */
const paths: [string, () => Promise<() => Promise<unknown>>, unknown][] = [
  [
    'an event is appended once',
    async () => async () => {
      const events = [1, 2].map(() => ({ organization, id: `ev_${ulidNow()}`, item: 'tk_1', version: 1, data: '{}' }));
      await Promise.all(events.map((event) => appendEvent(context, { ...event, event: 'task.created' })));
      return (await Array.fromAsync(readEvents(reliable, organization, clock(), clock()))).length;
    },
    2,
  ],
  [
    'an attempt is written',
    async () => {
      const message = newAttempt();
      return async () => {
        await insertAttempt(context, attemptFor(message));
        return (await findAttempt(context, message)).made;
      };
    },
    true,
  ],
  [
    'a late attempt has the time of its start',
    async () => () => beginAttempt(context, newAttempt(), Date.parse(at(600))),
    { place: expect.objectContaining({ at: at(600) }) },
  ],
  [
    'a retry is removed from the sweeper’s list',
    async () => {
      const retry = await failedAttempt();
      return async () => {
        await unlistAttempt(context, retry);
        return isListed(attemptKey(placeOf({ ...retry, attempt: 1, dueAt: at(0) })));
      };
    },
    false,
  ],
  [
    'attempts are counted once',
    async () => {
      const message = { ...newAttempt(), webhookId: `wh_${ulidNow()}` };
      await insertAttempt(reliable, attemptFor(message));
      const later = Date.parse(at(600));
      return async () => {
        await closeAttemptCounts(context, organization, message.webhookId, later);
        return readAttemptCounts(reliable, organization, message.webhookId, later);
      };
    },
    expect.objectContaining({ open: 1 }),
  ],
  [
    'an attempt marks a webhook as slow and returns its lease',
    async () => {
      const webhook = await putWebhook();
      const named = [organization, webhook.id] as const;
      await leaseSlowAttempt(reliable, ...named, { number: 0, now: at(0), until: at(20) });
      return async () => {
        await updatePace(context, ...named, { slow: false }, { slow: true, slowLease: 0 });
        return readTarget({ table }, ...named);
      };
    },
    expect.objectContaining({ slow: true, slowLeases: {} }),
  ],
  [
    'a lease of a slow webhook is taken',
    async () => {
      const { id } = await putWebhook();
      return () => leaseSlowAttempt(context, organization, id, { number: 0, now: at(0), until: at(20) });
    },
    true,
  ],
  [
    'a webhook is marked as slow',
    async () => {
      const { id } = await putWebhook();
      return async () => {
        await markWebhookSlow(context, organization, id);
        return (await readTarget({ table }, organization, id))?.slow;
      };
    },
    true,
  ],
  [
    'a postponed event is returned',
    async () => {
      const event = { organization, id: `ev_${ulidNow().slice(0, -1)}0`, item: 'tk_1', version: 1, data: '{}' };
      await appendEvent(reliable, { ...event, event: 'task.created' });
      const key = keys.event(organization, ulidOf(event.id));
      const { dueAt } = (await getItem(table, key)) as { dueAt: string };
      return () => postponeDue(context, { key, dueAt }, at(300));
    },
    expect.objectContaining({ item: 'tk_1' }),
  ],
  [
    'a lease of an execution is taken and counted once',
    async () => {
      const execution = await board.start();
      return () => leaseExecution(context, execution, lease('own'));
    },
    expect.objectContaining({ claim: 'own', claims: 1 }),
  ],
  [
    'a lease of an execution is renewed',
    async () => {
      const execution = await board.leased();
      return async () => {
        await renewLease(context, execution, at(90));
        return (await readExecutionHead(board, execution))?.leaseUntil;
      };
    },
    at(90),
  ],
  [
    'a lease of an execution is returned once',
    async () => {
      const execution = await board.leased();
      return async () => {
        const progress = { waits: 1, faults: 0, tokens: 0, verdicts: {} };
        await returnLease(context, execution, { until: at(60), dueAt: at(120), progress });
        const head = await readExecutionHead(board, execution);
        return [head?.claims, head?.claim, head?.progress?.waits];
      };
    },
    [0, undefined, 1],
  ],
  [
    'a sweep sends the message of a postponed purge',
    async () => {
      await putPurge(at(-60));
      const sent: unknown[] = [];
      return async () => {
        const swept = await sweep(context, [purgePartition], { until: Date.parse(at(-60)) }, async (items) => {
          sent.push(...items);
        });
        return [swept, sent.length];
      };
    },
    [{ woken: 1, unfinished: false }, 1],
  ],
  [
    'a request takes the lease of its Idempotency-Key',
    async () => {
      const request = newRequest();
      return async () => {
        const claim = await leaseIdempotencyRecord(context, organization, request);
        await transact(table, [idempotencyRecordWrite(context, organization, request, 'done', claim)]);
        return readIdempotencyRecord(context, organization, request);
      };
    },
    { data: 'done' },
  ],
  [
    'a request returns the lease of its Idempotency-Key',
    async () => {
      const request = newRequest();
      const claim = await leaseIdempotencyRecord(context, organization, request);
      return async () => {
        await deleteIdempotencyLease(context, organization, request, claim);
        return readIdempotencyRecord(context, organization, request);
      };
    },
    undefined,
  ],
  [
    'an idempotency record is written',
    async () => {
      const request = newRequest();
      return async () => {
        await transact(lossy, [idempotencyRecordWrite(context, organization, request, 'done')]);
        return readIdempotencyRecord(context, organization, request);
      };
    },
    { data: 'done' },
  ],
  [
    'a pass of self-improvement begins and ends',
    async () => async () => {
      const id = `ag_${ulidNow()}`;
      const claim = await leaseImprovement(context, organization, id);
      loseResponses(engine);
      await endImprovementLease(context, organization, id, claim);
      await leaseImprovement(context, organization, id);
    },
    undefined,
  ],
  [
    'reported requests are taken from the bucket once',
    async () => async () => {
      const now = 1_000_000;
      const fullAt = await takeFromBucket(lossy, organization, { fullAt: 0, takesMs: 50, now });
      loseResponses(engine);
      return takeFromBucket(lossy, organization, { fullAt, takesMs: 50, now });
    },
    1_000_100,
  ],
  [
    'a setting is set',
    async () => async () => {
      await changeSettings(context, organization, { defaultModel: 'm' });
      return readSettings(context, organization);
    },
    { defaultModel: 'm' },
  ],
  [
    'a setting is removed',
    async () => {
      await changeSettings(context, organization, { defaultModel: 'm' });
      return async () => {
        await changeSettings(context, organization, { defaultModel: undefined });
        return readSettings(context, organization);
      };
    },
    {},
  ],
  [
    'a default model is replaced',
    async () => {
      await changeSettings(context, organization, { defaultModel: 'm' });
      return () => replaceDefaultModel(context, organization, { from: 'm', to: 'n' });
    },
    true,
  ],
  [
    'a heartbeat is written',
    async () => async () => {
      await writeHeartbeat(context);
      return (await getItem(table, keys.heartbeat()))?.at;
    },
    new Date(clock()).toISOString(),
  ],
  [
    'a token is revoked',
    async () => {
      const token = newToken();
      await insertToken(lossy, token);
      return async () => {
        await revokeStoredToken(context, token.id, at(1));
        return readStoredToken(context, token.id);
      };
    },
    expect.objectContaining({ revokedAt: at(1) }),
  ],
  [
    'an empty purge is deleted',
    async () => {
      const key = await putPurge();
      return async () => {
        await purgeAgent(context, { organization, agentId: `ag_${key.sk}` }, () => undefined);
        return getItem(table, key);
      };
    },
    undefined,
  ],
  [
    'the purge of a task changes a dependent once',
    async () => {
      const [one, other] = [await board.put(), await board.put()];
      await updateTask(board, organization, other.id, { dependsOn: [one.id] }, always);
      await transact(table, [taskPurgeWrite({ organization, taskId: one.id }, [other.id], at(60))]);
      return async () => {
        await purgeTask(context, { organization, taskId: one.id }, at(1));
        const { dependsOn, version } = await board.stored(other.id);
        return [dependsOn, version];
      };
    },
    [[], 3],
  ],
  [
    'reconciling corrects dependents',
    async () => {
      const [one, other] = [await board.put(), await board.put()];
      await updateTask(board, organization, other.id, { dependsOn: [one.id] }, always);
      const key = keys.task(organization, ulidOf(one.id));
      await transact(table, [{ Update: { Key: key, UpdateExpression: 'REMOVE dependents' } }]);
      const differences = await findDifferences(table, organization, at(0));
      return async () => {
        await repairDifferences(lossy, differences);
        return (await board.stored(one.id)).dependents.length;
      };
    },
    1,
  ],
  [
    'a change of a task increments its version once',
    async () => {
      const { id } = await board.put();
      return async () => (await updateTask(context, organization, id, { title: 'New' }, isVersion(1))).version;
    },
    2,
  ],
  [
    'an assigned skill stays, and the response is recorded',
    async () => {
      const request = newRequest();
      const skill = { id: 'sk_code-review', assignedAt: at(0) };
      await insertAgentSkill(board, organization, headOf(board.agent), skill, undefined);
      return async () => {
        await insertAgentSkill(context, organization, headOf(board.agent), skill, (answer) =>
          idempotencyRecordWrite(context, organization, request, answer),
        );
        return readIdempotencyRecord(context, organization, request);
      };
    },
    { data: {} },
  ],
];

/** Returns the precondition of a caller that sends `If-Match`. */
const isVersion = (expected: number) => (version: number) => {
  if (version !== expected) throw new Error(`The version is ${version}.`);
};

const preconditionFailed = () => new ApiError('precondition_failed', 'The version is another one.');

describe('after the response to a single write was lost,', () => {
  it.each(paths)('%s', async (_, prepare, expected) => {
    const act = await prepare();
    const lost = loseResponses(engine);
    expect(await act()).toEqual(expected);
    expect(lost).toHaveLength(1);
  });

  it('a transaction whose response is lost is carried out once', async () => {
    const key = { pk: randomUUID(), sk: 's' };
    const add: Write = {
      Update: { Key: key, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } },
    };
    const lost = loseResponses(engine);
    await transact(lossy, [add, { Put: { Item: { ...key, sk: 'other' } } }]);
    expect([lost.length, (await getItem(table, key))?.n]).toEqual([1, 1]);
  });
});

describe('the mark of a single write', () => {
  const key = () => ({ pk: randomUUID(), sk: 's' });
  const put = (Key: { pk: string; sk: string }): Write => ({
    Put: { Item: { ...Key, text: 'x' }, ConditionExpression: 'attribute_not_exists(pk)' },
    onConditionFailed: () => new Conflict(),
  });
  const stored = async (Key: object) =>
    (await table.client.send(new GetCommand({ TableName: table.name, Key: Key as never }))).Item;

  it('has eight characters and a name of one character, 9 bytes together', async () => {
    const Key = key();
    await transact(table, [put(Key)]);
    expect(await stored(Key)).toEqual({ ...Key, text: 'x', w: expect.stringMatching(/^[\w-]{8}$/) });
  });

  it('is not in the items that reads and writes return', async () => {
    const Key = key();
    await transact(table, [put(Key)]);
    const item = { ...Key, text: 'x' };
    expect(await getItem(table, Key)).toEqual(item);
    expect(await getItems(table, [Key])).toEqual([item]);
    expect(await Array.fromAsync(queryItems(table, { pk: Key.pk }))).toEqual([item]);
    let found: unknown;
    const again: Write = {
      ...put(Key),
      onConditionFailed: (item) => {
        found = item;
        return new Conflict();
      },
    };
    for (const all of [[again], [again, put(key())]]) {
      found = undefined;
      await expect(transact(table, all)).rejects.toBeInstanceOf(Conflict);
      expect(found).toEqual(item);
    }
    const updated = await transact(table, [
      {
        Update: {
          Key,
          UpdateExpression: 'REMOVE #text',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeNames: { '#text': 'text' },
          ReturnValues: 'ALL_NEW',
        },
        onConditionFailed: () => new Conflict(),
      },
    ]);
    expect(updated).toEqual(Key);
  });

  it('is new for each write: the same write again throws `Conflict`', async () => {
    const Key = key();
    await transact(table, [put(Key)]);
    await expect(transact(table, [put(Key)])).rejects.toBeInstanceOf(Conflict);
  });

  it('causes no second record of the stream when a write is repeated', async () => {
    const service = await openService(clock);
    const watched = await startEngineProxy(service.endpoint);
    const own = { table: openTable(service.tableName, watched.endpoint), ulid: ulidNow, clock };
    const { id } = await createTask(own, organization, newTask(), undefined);
    loseResponses(watched);
    await updateTask(own, organization, id, { title: 'New' }, always);
    const names = (await streamed(service, 'task')).map(({ eventName }) => eventName);
    expect(names).toEqual(['INSERT', 'MODIFY']);
  });
});

describe('if the response to a single write is lost and another writer changes the item before the retry,', () => {
  /** Loses the response to the first try of the next write, and runs a function before its second try. */
  function beforeRetry(act: () => Promise<unknown>): void {
    loseResponses(engine);
    let tries = 0;
    engine.before = async (asked) => {
      if (writes(asked) && ++tries === 2) await act();
    };
  }
  const change = (id: string, fields: object) => updateTask(board, organization, id, fields, always);

  it('a transaction of the other writer keeps the mark, and the retry finds its own write', async () => {
    const { id } = await board.put();
    beforeRetry(() => change(id, { status: 'qa_review' }));
    expect((await updateTask(context, organization, id, { title: 'New' }, isVersion(1))).version).toBe(2);
    expect(await board.stored(id)).toMatchObject({ title: 'New', status: 'qa_review', version: 3 });
  });

  it('a single write of the other writer replaces the mark, and a request without a precondition is carried out again', async () => {
    const { id } = await board.put();
    beforeRetry(() => change(id, { description: 'Other' }));
    await updateTask(context, organization, id, { title: 'New' }, always);
    expect(await board.stored(id)).toMatchObject({ title: 'New', description: 'Other', version: 3 });
  });

  it('a single write of the other writer replaces the mark, and a failed precondition throws `OutcomeUnknown`', async () => {
    const { id } = await board.put();
    beforeRetry(() => change(id, { title: 'Other' }));
    const refused = updateTask(context, organization, id, { title: 'New' }, (version) => {
      if (version !== 1) throw preconditionFailed();
    });
    await expect(refused).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(await board.stored(id)).toMatchObject({ title: 'Other', version: 3 });
  });

  it('a failed condition that means an API error throws `OutcomeUnknown`', async () => {
    const Key = { pk: randomUUID(), sk: 's' };
    const put: Write = {
      Put: { Item: { ...Key, by: 'us' }, ConditionExpression: 'attribute_not_exists(pk)' },
      onConditionFailed: preconditionFailed,
    };
    beforeRetry(() => transact(table, [{ Put: { Item: { ...Key, by: 'another' } } }]));
    await expect(transact(lossy, [put])).rejects.toBeInstanceOf(OutcomeUnknown);
  });

  it('a duplicate request that was carried out throws `AlreadyDone`', async () => {
    const request = newRequest();
    beforeRetry(async () => {
      clock.now += 2 * dayMs;
      await transact(table, [idempotencyRecordWrite({ table, clock }, organization, request, 'duplicate')]);
    });
    const late = transact(lossy, [idempotencyRecordWrite(context, organization, request, 'own')]);
    await expect(late).rejects.toBeInstanceOf(AlreadyDone);
  });

  it('a deletion of an item that does not exist any more succeeds', async () => {
    const Key = { pk: randomUUID(), sk: 's' };
    await transact(table, [{ Put: { Item: Key } }]);
    const remove: Write = {
      Delete: { Key, ConditionExpression: 'attribute_exists(pk)' },
      onConditionFailed: preconditionFailed,
    };
    loseResponses(engine);
    await transact(lossy, [remove]);
    await expect(transact(lossy, [remove])).rejects.toMatchObject({ code: 'precondition_failed' });
  });
});
