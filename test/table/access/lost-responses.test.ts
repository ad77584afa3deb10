import { randomUUID } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { ulid } from 'ulid';
import { afterEach, describe, expect, it } from 'vitest';
import { assignSkill } from '../../../lib/agents/agents.ts';
import { ApiError } from '../../../lib/contract/errors.ts';
import { openTable, type Table } from '../../../lib/table/access/client.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem, getItems, queryItems } from '../../../lib/table/access/reads.ts';
import { AlreadyDone, Conflict, transact } from '../../../lib/table/access/transact.ts';
import { OutcomeUnknown } from '../../../lib/table/access/unavailable.ts';
import type { Item, OnConditionFailed, Write } from '../../../lib/table/access/write.ts';
import { endImprovementLease, leaseImprovement } from '../../../lib/table/agents/improvements.ts';
import { closeAttemptCounts, readAttemptCounts } from '../../../lib/table/deliveries/attempt-counts.ts';
import { attemptKey } from '../../../lib/table/deliveries/attempt-items.ts';
import { beginAttempt, insertAttempt, placeOf, unlistAttempt } from '../../../lib/table/deliveries/attempt-log.ts';
import { storeBooking } from '../../../lib/table/deliveries/parked-attempts.ts';
import { appendEvent, readEvents } from '../../../lib/table/events/event-log.ts';
import { leaseExecution, readExecutionHead, returnLease } from '../../../lib/table/executions/executions.ts';
import {
  idempotencyRecordWrites,
  leaseIdempotencyRecord,
  type RecordResponse,
  readIdempotencyRecord,
} from '../../../lib/table/idempotency.ts';
import { sweep } from '../../../lib/table/lists/due.ts';
import { takeFromBucket } from '../../../lib/table/organizations/request-bucket.ts';
import { changeSettings, readOrganizationSettings } from '../../../lib/table/organizations/settings.ts';
import { agentPurgeWrite, purgePartition, taskPurgeWrite } from '../../../lib/table/purges/purge-items.ts';
import { purgeTask } from '../../../lib/table/tasks/task-removal.ts';
import { replaceSecret } from '../../../lib/table/webhooks/secret-rotation.ts';
import { bookTimes, leaseSlowAttempt, takePermits, updatePace } from '../../../lib/table/webhooks/webhook-attempts.ts';
import { insertWebhook, readTarget } from '../../../lib/table/webhooks/webhooks.ts';
import { createTask, updateTask } from '../../../lib/tasks/tasks.ts';
import { openService } from '../../service.ts';
import { streamed } from '../../table-stream.ts';
import { attemptFor, newMessage } from '../deliveries/attempt-seed.ts';
import { at, createExecutionTable, lease } from '../executions/execution-table.ts';
import { loseResponses, startTableServer, writes } from '../fixtures/table-server.ts';
import { always, newTask } from '../tasks/test-table.ts';

const board = await createExecutionTable();
const { table, organization, clock } = board;
const engine = await startTableServer(board.table);
/** The same table with a connection whose responses can be lost. */
const lossy = openTable(table.name, engine.endpoint);
afterEach(() => engine.reset());

const ulidNow = () => ulid(clock());
const context = { table: lossy, batchers: {}, clock };
/** The context of the same table, without lost answers. */
const reliable = { table, batchers: {} };

const insertTestWebhook = async (encryptedSecret?: string, more: { maxPerSecond?: number } = {}): Promise<string> => {
  const id = `wh_${ulidNow()}`;
  const fields = { url: 'https://example.com/', active: true, createdAt: at(0) };
  const webhook = { ...fields, ...more, id, events: ['task.created' as const] };
  await insertWebhook({ table }, organization, webhook, encryptedSecret, undefined);
  return id;
};
const newAttempt = () => newMessage(organization, { deliveryId: `dlv_${ulidNow()}`, dueAt: at(0) });
const newRequest = () => ({ key: randomUUID(), operation: 'POST /calls', path: '/calls', body: {} });
const newKey = () => ({ pk: randomUUID(), sk: 's' });
const dayMs = 24 * 60 * 60 * 1000;

const preconditionFailed = () => new ApiError('precondition_failed', 'The version is another one.');

/** Returns the precondition of a caller that sends `If-Match`. */
const isVersion =
  (expected: number) =>
  ({ version }: { version: number }) => {
    if (version !== expected) throw preconditionFailed();
  };

/** Tests a function that calls `lose` before a single write of a store. */
function itHappensOnce(title: string, expected: unknown, act: (lose: () => void) => Promise<unknown>): void {
  it(title, async () => {
    let lost: unknown[] = [];
    const lose = () => {
      lost = loseResponses(engine);
    };
    expect(await act(lose)).toEqual(expected);
    expect(lost).toHaveLength(1);
  });
}

describe('after the response to a single write was lost,', () => {
  itHappensOnce('an event is appended once', 1, async (lose) => {
    const event = { organization, id: `ev_${ulidNow()}`, item: 'tk_1', version: 1, data: '{}' };
    lose();
    await appendEvent(context, { ...event, event: 'task.created' });
    return (await Array.fromAsync(readEvents(reliable, organization, clock(), clock()))).length;
  });
  itHappensOnce(
    'a late attempt has the time of its start',
    { place: expect.objectContaining({ at: at(600) }) },
    async (lose) => {
      lose();
      return beginAttempt(context, newAttempt(), Date.parse(at(600)));
    },
  );
  itHappensOnce('a retry is removed from the sweeper’s list', false, async (lose) => {
    const failed = newAttempt();
    const row = attemptKey(placeOf(failed));
    await insertAttempt(reliable, attemptFor(failed, { retry: { dueAt: at(300), listedFrom: at(360) } }));
    lose();
    await unlistAttempt(context, { ...failed, attempt: 2, dueAt: at(300), listedBy: row.sk });
    return 'due' in ((await getItem(table, row)) ?? {});
  });
  itHappensOnce('attempts are counted once', expect.objectContaining({ open: 1 }), async (lose) => {
    const message = { ...newAttempt(), webhookId: `wh_${ulidNow()}` };
    await insertAttempt(reliable, attemptFor(message));
    const later = Date.parse(at(600));
    lose();
    await closeAttemptCounts(context, organization, message.webhookId, later);
    return readAttemptCounts(reliable, organization, message.webhookId, later);
  });
  itHappensOnce('attempts take permits', 3_050_000, async (lose) => {
    const id = await insertTestWebhook(undefined, { maxPerSecond: 2 });
    const block = { maxPerSecond: 2, pacedMs: 1_025, aheadMs: 2_000, longestMs: 3_000 };
    await takePermits(reliable, organization, id, { ...block, count: 3, now: 1_000 });
    lose();
    await takePermits(context, organization, id, { ...block, count: 1, now: 1_100 });
    return (await readTarget({ table }, organization, id))?.permittedUntil;
  });
  itHappensOnce('attempts book times', 1_500, async (lose) => {
    const id = await insertTestWebhook();
    await bookTimes({ ...reliable, clock }, organization, id, { count: 1, earliest: 1_000, gapMs: 100 });
    lose();
    await bookTimes(context, organization, id, { count: 2, earliest: 900, gapMs: 200 });
    return (await readTarget({ table }, organization, id))?.bookedUntil;
  });
  itHappensOnce('the booked time of an attempt is stored', true, async (lose) => {
    const booking = { bookedAt: at(600) };
    lose();
    return storeBooking(context, { ...newAttempt(), ...booking }, { listedFrom: at(660), overUntil: at(0) });
  });
  itHappensOnce(
    'an attempt marks a webhook as slow and returns its lease',
    expect.objectContaining({ slow: true, slowLeases: {} }),
    async (lose) => {
      const id = await insertTestWebhook();
      await leaseSlowAttempt(reliable, organization, id, { number: 0, now: at(0), until: at(20) });
      lose();
      await updatePace(context, organization, id, { slow: false }, { slow: true, lease: { number: 0, until: at(20) } });
      return readTarget({ table }, organization, id);
    },
  );
  itHappensOnce(
    'a rotation moves a secret to the previous one',
    expect.objectContaining({
      encryptedSecret: 'the next one',
      previousSecret: { encrypted: 'the first one', until: at(60) },
    }),
    async (lose) => {
      const id = await insertTestWebhook('the first one');
      lose();
      const rotation = { encryptedSecret: 'the next one', changedAt: at(0), previousUntil: at(60) };
      await replaceSecret(context, organization, id, rotation, () => ({}), undefined);
      return readTarget({ table }, organization, id);
    },
  );
  itHappensOnce(
    'a sweep sends the message of a postponed purge',
    [{ woken: 1, unfinished: false }, 1],
    async (lose) => {
      await transact(table, [agentPurgeWrite({ organization, agentId: `ag_${ulidNow()}` }, at(-60))]);
      const sent: unknown[] = [];
      lose();
      const swept = await sweep(context, [purgePartition], { until: Date.parse(at(-60)) }, async (items) => {
        sent.push(...items);
      });
      return [swept, sent.length];
    },
  );
  itHappensOnce(
    'a lease of an execution is taken and counted once',
    expect.objectContaining({ claim: 'own', claims: 1 }),
    async (lose) => {
      const execution = await board.start();
      lose();
      return leaseExecution(context, execution, lease('own'));
    },
  );
  itHappensOnce('a lease of an execution is returned once', [0, undefined, 1], async (lose) => {
    const execution = await board.leased();
    const progress = { waits: 1, faults: 0, tokens: 0, verdicts: {} };
    lose();
    await returnLease(context, execution, { until: at(60), dueAt: at(120), progress });
    const head = await readExecutionHead(board, execution);
    return [head?.claims, head?.claim, head?.progress?.waits];
  });
  itHappensOnce(
    'a request takes the lease of its Idempotency-Key and records its response',
    { data: 'done' },
    async (lose) => {
      const request = newRequest();
      lose();
      const claim = await leaseIdempotencyRecord(context, organization, request);
      loseResponses(engine);
      await transact(lossy, idempotencyRecordWrites(context, organization, request, { data: 'done' }, claim));
      return readIdempotencyRecord(context, organization, request);
    },
  );
  itHappensOnce('a pass of self-improvement begins and ends', undefined, async (lose) => {
    const id = `ag_${ulidNow()}`;
    lose();
    const claim = await leaseImprovement(context, organization, id);
    loseResponses(engine);
    await endImprovementLease(context, organization, id, claim);
    await leaseImprovement(context, organization, id);
  });
  itHappensOnce('reported requests are taken from the bucket once', 1_000_100, async (lose) => {
    const now = 1_000_000;
    lose();
    const fullAt = await takeFromBucket(lossy, keys.requestBucket(organization), { fullAt: 0, takesMs: 50, now });
    loseResponses(engine);
    return takeFromBucket(lossy, keys.requestBucket(organization), { fullAt, takesMs: 50, now });
  });
  itHappensOnce('a setting is removed', {}, async (lose) => {
    await changeSettings(context, organization, { defaultModel: 'm' });
    lose();
    await changeSettings(context, organization, { defaultModel: undefined });
    return readOrganizationSettings(context, organization);
  });
  itHappensOnce('the purge of a task changes a dependent once', [[], 3], async (lose) => {
    const [one, other] = [await board.put(), await board.put()];
    await updateTask(board, organization, other.id, { dependsOn: [one.id] }, always);
    await transact(table, [taskPurgeWrite({ organization, taskId: one.id }, [other.id], at(60))]);
    lose();
    await purgeTask(context, { organization, taskId: one.id }, at(1));
    const { dependsOn, version } = await board.stored(other.id);
    return [dependsOn, version];
  });
  itHappensOnce('a change of a task increments its version once', 2, async (lose) => {
    const { id } = await board.put();
    lose();
    return (await updateTask(context, organization, id, { title: 'New' }, isVersion(1))).version;
  });
  itHappensOnce('an assigned skill stays, and the response is recorded', { data: {} }, async (lose) => {
    const request = newRequest();
    const skill = { id: 'sk_code-review', name: 'code-review', description: 'Reviews.' };
    const assign = (through: Table, recordResponse: RecordResponse) =>
      assignSkill({ ...board, table: through }, organization, board.agent.name, skill.id, [skill], recordResponse, []);
    await assign(table, undefined);
    lose();
    await assign(lossy, (answer) => idempotencyRecordWrites(context, organization, request, { data: answer }));
    return readIdempotencyRecord(context, organization, request);
  });

  it('a transaction whose response is lost is carried out once', async () => {
    const key = newKey();
    const one = { ':one': 1 };
    const add = { Update: { Key: key, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: one } };
    const lost = loseResponses(engine);
    await transact(lossy, [add, { Put: { Item: { ...key, sk: 'other' } } }]);
    expect([lost.length, (await getItem(table, key))?.n]).toEqual([1, 1]);
  });
});

/** Returns a put of a new item. */
const put = (Item: Item, onConditionFailed: OnConditionFailed = () => new Conflict()): Write => ({
  ...{ Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, onConditionFailed },
});

describe('the mark of a single write', () => {
  it('has eight characters and a name of one, and is not in the items that reads and writes return', async () => {
    const Key = newKey();
    const item = { ...Key, text: 'x' };
    await transact(table, [put(item)]);
    const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key }));
    expect(Item).toEqual({ ...item, w: expect.stringMatching(/^[\w-]{8}$/) });
    expect(await getItem(table, Key)).toEqual(item);
    expect(await getItems(table, [Key])).toEqual([item]);
    expect(await Array.fromAsync(queryItems(table, { pk: Key.pk }))).toEqual([item]);
    const found: unknown[] = [];
    const again = put(Key, (one) => new Conflict(`${found.push(one)}`));
    for (const all of [[again], [again, put(newKey())]])
      await expect(transact(table, all)).rejects.toBeInstanceOf(Conflict);
    expect(found).toEqual([item, item]);
    const update = { Key, UpdateExpression: 'REMOVE #text', ExpressionAttributeNames: { '#text': 'text' } };
    const onConditionFailed = () => new Conflict();
    expect(await transact(table, [{ Update: { ...update, ReturnValues: 'ALL_NEW' }, onConditionFailed }])).toEqual(Key);
  });

  it('causes no second record of the stream when a write is repeated', async () => {
    const service = await openService(clock);
    const watched = await startTableServer(service.table);
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

  it.each([
    ['keeps the mark if it is a transaction: the retry finds its own write', { status: 'qa_review' }, isVersion(1)],
    ['replaces the mark if it is a single write, which the retry overwrites', { description: 'Other' }, always],
  ] as const)('the other writer %s', async (_, change, precondition) => {
    const { id } = await board.put();
    beforeRetry(() => updateTask(board, organization, id, change, always));
    await updateTask(context, organization, id, { title: 'New' }, precondition);
    expect(await board.stored(id)).toMatchObject({ title: 'New', ...change, version: 3 });
  });

  it('a failed precondition throws `OutcomeUnknown`, because a single write has replaced the mark', async () => {
    const { id } = await board.put();
    beforeRetry(() => updateTask(board, organization, id, { title: 'Other' }, always));
    const late = updateTask(context, organization, id, { title: 'New' }, isVersion(1));
    await expect(late).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(await board.stored(id)).toMatchObject({ title: 'Other', version: 3 });
  });

  it('a failed condition that means an API error throws `OutcomeUnknown`', async () => {
    const Key = newKey();
    beforeRetry(() => transact(table, [{ Put: { Item: { ...Key, by: 'another' } } }]));
    await expect(transact(lossy, [put({ ...Key, by: 'us' }, preconditionFailed)])).rejects.toBeInstanceOf(
      OutcomeUnknown,
    );
  });

  it('a duplicate request that was carried out throws `AlreadyDone`', async () => {
    const request = newRequest();
    beforeRetry(async () => {
      clock.now += 2 * dayMs;
      await transact(table, idempotencyRecordWrites({ table, clock }, organization, request, { data: 'duplicate' }));
    });
    const late = transact(lossy, idempotencyRecordWrites(context, organization, request, { data: 'own' }));
    await expect(late).rejects.toBeInstanceOf(AlreadyDone);
  });

  it('a deletion of an item that does not exist any more succeeds', async () => {
    const Key = newKey();
    await transact(table, [{ Put: { Item: Key } }]);
    const Delete = { Key, ConditionExpression: 'attribute_exists(pk)' };
    const remove: Write = { Delete, onConditionFailed: preconditionFailed };
    loseResponses(engine);
    await transact(lossy, [remove]);
    await expect(transact(lossy, [remove])).rejects.toMatchObject({ code: 'precondition_failed' });
  });
});
