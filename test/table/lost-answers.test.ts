import { randomUUID } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { ulid } from 'ulid';
import { afterEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../lib/contract/ids.ts';
import { Refusal } from '../../lib/contract/refusals.ts';
import { headOf } from '../../lib/table/agent-items.ts';
import { openAgentStore } from '../../lib/table/agents.ts';
import { openTable } from '../../lib/table/client.ts';
import { openDeliveryStore } from '../../lib/table/deliveries.ts';
import { type Delivery, deliveryKey } from '../../lib/table/delivery-items.ts';
import { type Overdue, sweep } from '../../lib/table/due.ts';
import { openExecutionStore } from '../../lib/table/executions.ts';
import { writeHeartbeat } from '../../lib/table/heartbeat.ts';
import { openIdempotency } from '../../lib/table/idempotency.ts';
import { openImprovementStore } from '../../lib/table/improvements.ts';
import { keys } from '../../lib/table/keys.ts';
import { agentPurgeWrite, taskPurgeWrite } from '../../lib/table/purge-items.ts';
import { openPurgeStore } from '../../lib/table/purges.ts';
import { getItem, getItems, queryItems } from '../../lib/table/reads.ts';
import { putRight, recount } from '../../lib/table/recount.ts';
import { takeFromBucket } from '../../lib/table/request-bucket.ts';
import { openSettings } from '../../lib/table/settings.ts';
import { openTaskStore } from '../../lib/table/tasks.ts';
import { createToken } from '../../lib/table/token-writes.ts';
import { openTokens } from '../../lib/table/tokens.ts';
import { AlreadyDone, OutcomeUnknown, Stale, transact, type Write } from '../../lib/table/transact.ts';
import { openTasks } from '../../lib/tasks/tasks.ts';
import { openService } from '../service.ts';
import { streamed } from '../table-stream.ts';
import { loseAnswers, watchEngine, writes } from '../watched-engine.ts';
import { always, newTask } from './board.ts';
import { at, lease, openExecutionBoard } from './execution-board.ts';

const board = await openExecutionBoard();
const { table, organization, clock } = board;
const engine = await watchEngine(board.engine);
/** The same table, on a way where answers can be lost. */
const lossy = openTable(table.name, engine.endpoint);
afterEach(() => engine.relent());

const ulidNow = () => ulid(clock());
const deliveries = openDeliveryStore(lossy);
const executions = openExecutionStore(lossy, 50);
const purges = openPurgeStore(lossy);
const idempotency = openIdempotency(lossy, clock);
const improvements = openImprovementStore(lossy, clock);
const settings = openSettings(lossy);
const tokens = openTokens(lossy);
const tasks = openTasks(openTaskStore(lossy), ulidNow, clock);

const newDelivery = (): Delivery => ({
  organization,
  webhookId: 'wh_01K00000000000000000000000',
  id: `dlv_${ulidNow()}`,
  event: 'task.created',
  data: '{}',
  state: 'pending',
  attempt: 1,
  nextAttemptAt: at(0),
});
const putDelivery = async () => {
  const delivery = newDelivery();
  await openDeliveryStore(table).put(delivery, at(60));
  return delivery;
};
const claimedDelivery = async () => {
  const claim = await openDeliveryStore(table).claim(await putDelivery(), 1, lease(randomUUID()));
  return (claim as { claimed: Delivery }).claimed;
};
const stateOf = async (delivery: Delivery) => (await getItem(table, deliveryKey(delivery)))?.state;
const overdue = (key: Overdue['key']): Overdue => ({ key, dueAt: at(60) });
const newRequest = () => ({ key: randomUUID(), operation: 'POST /calls', path: '/calls', body: {} });
const newToken = () => ({ id: randomUUID(), hash: 'h', organization, scopes: [], createdAt: at(0) });
const putPurge = async () => {
  const agent = ulidNow();
  await transact(table, [agentPurgeWrite({ organization, agentId: `ag_${agent}` }, at(60))]);
  return keys.purge(organization, agent);
};
const dayMs = 24 * 60 * 60 * 1000;
const headKey = (id: string) => keys.executionHead(organization, ulidOf(id));

/** Every way in which a store writes an item alone: what it returns where the answer is lost, and then leaves behind. */
const paths: [string, () => Promise<() => Promise<unknown>>, unknown][] = [
  ['a delivery that is put is pending', async () => () => deliveries.put(newDelivery(), at(60)), 'pending'],
  [
    'a lease of a delivery is its own',
    async () => {
      const delivery = await putDelivery();
      return () => deliveries.claim(delivery, 1, lease('own'));
    },
    { claimed: expect.objectContaining({ claim: 'own', state: 'pending' }) },
  ],
  [
    'a delivery that is skipped is skipped',
    async () => {
      const delivery = await claimedDelivery();
      return async () => {
        await deliveries.skip(delivery, 'webhook_deleted');
        return stateOf(delivery);
      };
    },
    'skipped',
  ],
  [
    'a delivery that is postponed is returned',
    async () => {
      const delivery = await putDelivery();
      return () => deliveries.postpone(overdue(deliveryKey(delivery)), at(300));
    },
    expect.objectContaining({ state: 'pending', attempt: 1 }),
  ],
  [
    'a lease of an execution is its own, and counted once',
    async () => {
      const execution = await board.start();
      return () => executions.claim(execution, lease('own'));
    },
    expect.objectContaining({ claim: 'own', claims: 1 }),
  ],
  [
    'a lease of an execution that is renewed holds',
    async () => {
      const execution = await board.claimed();
      return async () => {
        await executions.renew(execution, at(90));
        return (await board.executions.head(execution))?.leaseUntil;
      };
    },
    at(90),
  ],
  [
    'a lease of an execution that is given back is given back once',
    async () => {
      const execution = await board.claimed();
      return async () => {
        const progress = { waits: 1, faults: 0, tokens: 0, verdicts: {} };
        await executions.giveBack(execution, { until: at(60), dueAt: at(120), progress });
        const head = await board.executions.head(execution);
        return [head?.claims, head?.claim, head?.progress?.waits];
      };
    },
    [0, undefined, 1],
  ],
  [
    'an execution that is postponed is returned',
    async () => {
      const { id } = await board.start();
      return () => executions.postpone(overdue(headKey(id)), at(300));
    },
    expect.objectContaining({ status: 'running' }),
  ],
  [
    'a purge that is postponed is returned',
    async () => {
      const key = await putPurge();
      return () => purges.postpone(overdue(key), at(300));
    },
    expect.objectContaining({ organization }),
  ],
  [
    'a sweep sends the message of what it postponed',
    async () => {
      const key = await putPurge();
      const due = async function* () {
        yield overdue(key);
      };
      const sent: unknown[] = [];
      return async () => {
        const swept = await sweep({ ...purges, due }, { until: clock(), now: clock() }, async (moved) => {
          sent.push(...moved);
        });
        return [swept, sent.length];
      };
    },
    [{ woken: 1, unfinished: false }, 1],
  ],
  [
    'a request that is noted as under way is this one',
    async () => {
      const request = newRequest();
      return async () => {
        const claim = await idempotency.begin(organization, request);
        await transact(table, [idempotency.record(organization, request, 'done', claim)]);
        return idempotency.find(organization, request);
      };
    },
    { data: 'done' },
  ],
  [
    'a request that is released can be sent again',
    async () => {
      const request = newRequest();
      const claim = await idempotency.begin(organization, request);
      return async () => {
        await idempotency.release(organization, request, claim);
        return idempotency.find(organization, request);
      };
    },
    undefined,
  ],
  [
    'an answer that is recorded alone is recorded',
    async () => {
      const request = newRequest();
      return async () => {
        await transact(lossy, [idempotency.record(organization, request, 'done')]);
        return idempotency.find(organization, request);
      };
    },
    { data: 'done' },
  ],
  [
    'a pass of self-improvement begins, and the next one after its end',
    async () => async () => {
      const id = `ag_${ulidNow()}`;
      const end = await improvements.begin(organization, id);
      loseAnswers(engine);
      await end();
      await (await improvements.begin(organization, id))();
    },
    undefined,
  ],
  [
    'requests that a container reports are taken once',
    async () => async () => {
      const now = 1_000_000;
      const fullAt = await takeFromBucket(lossy, organization, { fullAt: 0, takesMs: 50, now });
      loseAnswers(engine);
      return takeFromBucket(lossy, organization, { fullAt, takesMs: 50, now });
    },
    1_000_100,
  ],
  [
    'a setting that is set is set',
    async () => async () => {
      await settings.change(organization, { defaultModel: 'm' });
      return settings.get(organization);
    },
    { defaultModel: 'm' },
  ],
  [
    'a setting that is unset is unset',
    async () => {
      await settings.change(organization, { defaultModel: 'm' });
      return async () => {
        await settings.change(organization, { defaultModel: undefined });
        return settings.get(organization);
      };
    },
    {},
  ],
  [
    'a default model that is moved is moved',
    async () => {
      await settings.change(organization, { defaultModel: 'm' });
      return () => settings.moveDefaultModel(organization, { from: 'm', to: 'n' });
    },
    true,
  ],
  [
    'a heartbeat is written',
    async () => async () => {
      await writeHeartbeat(lossy, clock());
      return (await getItem(table, keys.heartbeat()))?.at;
    },
    new Date(clock()).toISOString(),
  ],
  [
    'a token that is revoked is revoked',
    async () => {
      const token = newToken();
      await createToken(lossy, token);
      return async () => {
        await tokens.revoke(token.id, at(1));
        return tokens.get(token.id);
      };
    },
    expect.objectContaining({ revokedAt: at(1) }),
  ],
  [
    'a purge with nothing to delete but itself is gone',
    async () => {
      const key = await putPurge();
      return async () => {
        await purges.carryOut({ organization, agentId: `ag_${key.sk}` }, () => undefined);
        return getItem(table, key);
      };
    },
    undefined,
  ],
  [
    'a dependent that the purge of a task detaches is changed once',
    async () => {
      const [one, other] = [await board.put(), await board.put()];
      await board.tasks.update(organization, other.id, { dependsOn: [one.id] }, always);
      await transact(table, [taskPurgeWrite({ organization, taskId: one.id }, [other.id], at(60))]);
      return async () => {
        await purges.carryOutOfTask({ organization, taskId: one.id }, at(1));
        const { dependsOn, version } = await board.stored(other.id);
        return [dependsOn, version];
      };
    },
    [[], 3],
  ],
  [
    'dependents that a reconciliation corrects are correct',
    async () => {
      const [one, other] = [await board.put(), await board.put()];
      await board.tasks.update(organization, other.id, { dependsOn: [one.id] }, always);
      const key = keys.task(organization, ulidOf(one.id));
      await transact(table, [{ Update: { Key: key, UpdateExpression: 'REMOVE dependents' } }]);
      const differences = await recount(table, organization, at(0));
      return async () => {
        await putRight(lossy, differences);
        return (await board.stored(one.id)).dependents.length;
      };
    },
    1,
  ],
  [
    'a task that is changed is at its next version',
    async () => {
      const { id } = await board.put();
      return async () => (await tasks.update(organization, id, { title: 'New' }, isVersion(1))).version;
    },
    2,
  ],
  [
    'a skill that an agent has stays, and its answer is recorded',
    async () => {
      const request = newRequest();
      const skill = { id: 'sk_code-review', assignedAt: at(0) };
      await board.agents.assign(organization, headOf(board.agent), skill, undefined);
      const agents = openAgentStore(lossy, 'm');
      return async () => {
        await agents.assign(organization, headOf(board.agent), skill, (answer) =>
          idempotency.record(organization, request, answer),
        );
        return idempotency.find(organization, request);
      };
    },
    { data: {} },
  ],
];

/** The precondition of a caller who sends an `If-Match`. */
const isVersion = (expected: number) => (version: number) => {
  if (version !== expected) throw new Error(`It is at version ${version}.`);
};

const preconditionFailed = () => new Refusal('precondition_failed', 'It is at another version.');

describe('where the answer to a single write is lost,', () => {
  it.each(paths)('%s', async (_, prepare, expected) => {
    const act = await prepare();
    const lost = loseAnswers(engine);
    expect(await act()).toEqual(expected);
    expect(lost).toHaveLength(1);
  });

  it('a transaction is carried out once', async () => {
    const key = { pk: randomUUID(), sk: 's' };
    const add: Write = {
      Update: { Key: key, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } },
    };
    const lost = loseAnswers(engine);
    await transact(lossy, [add, { Put: { Item: { ...key, sk: 'other' } } }]);
    expect([lost.length, (await getItem(table, key))?.n]).toEqual([1, 1]);
  });
});

describe('the mark of a single write', () => {
  const key = () => ({ pk: randomUUID(), sk: 's' });
  const put = (Key: { pk: string; sk: string }): Write => ({
    Put: { Item: { ...Key, text: 'x' }, ConditionExpression: 'attribute_not_exists(pk)' },
    otherwise: () => new Stale(),
  });
  const stored = async (Key: object) =>
    (await table.client.send(new GetCommand({ TableName: table.name, Key: Key as never }))).Item;

  it('is eight characters long and has a name of one, so that an item grows by 9 bytes', async () => {
    const Key = key();
    await transact(table, [put(Key)]);
    expect(await stored(Key)).toEqual({ ...Key, text: 'x', w: expect.stringMatching(/^[\w-]{8}$/) });
  });

  it('is not read by any store', async () => {
    const Key = key();
    await transact(table, [put(Key)]);
    const item = { ...Key, text: 'x' };
    expect(await getItem(table, Key)).toEqual(item);
    expect(await getItems(table, [Key])).toEqual([item]);
    expect(await Array.fromAsync(queryItems(table, { pk: Key.pk }))).toEqual([item]);
    let found: unknown;
    const again: Write = {
      ...put(Key),
      otherwise: (item) => {
        found = item;
        return new Stale();
      },
    };
    for (const all of [[again], [again, put(key())]]) {
      found = undefined;
      await expect(transact(table, all)).rejects.toBeInstanceOf(Stale);
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
        otherwise: () => new Stale(),
      },
    ]);
    expect(updated).toEqual(Key);
  });

  it('is of that write alone: the same write again is refused', async () => {
    const Key = key();
    await transact(table, [put(Key)]);
    await expect(transact(table, [put(Key)])).rejects.toBeInstanceOf(Stale);
  });

  it('makes no second record of the stream', async () => {
    const service = await openService(clock);
    const watched = await watchEngine(service.endpoint);
    const own = openTasks(openTaskStore(openTable(service.tableName, watched.endpoint)), ulidNow, clock);
    const { id } = await own.create(organization, newTask(), undefined);
    loseAnswers(watched);
    await own.update(organization, id, { title: 'New' }, always);
    const names = (await streamed(service, 'task')).map(({ eventName }) => eventName);
    expect(names).toEqual(['INSERT', 'MODIFY']);
  });
});

describe('where the answer to a single write is lost and another writes to the item before it is tried again,', () => {
  /** Has something done to the table between the first try of the next write, whose answer is lost, and its second. */
  function meanwhile(act: () => Promise<unknown>): void {
    loseAnswers(engine);
    let tries = 0;
    engine.before = async (asked) => {
      if (writes(asked) && ++tries === 2) await act();
    };
  }
  const change = (id: string, fields: object) => board.tasks.update(organization, id, fields, always);

  it('a transaction leaves the mark, and the write is known again', async () => {
    const { id } = await board.put();
    meanwhile(() => change(id, { status: 'qa_review' }));
    expect((await tasks.update(organization, id, { title: 'New' }, isVersion(1))).version).toBe(2);
    expect(await board.stored(id)).toMatchObject({ title: 'New', status: 'qa_review', version: 3 });
  });

  it('a single write hides the mark, and a request without a precondition is carried out on what there is now', async () => {
    const { id } = await board.put();
    meanwhile(() => change(id, { description: 'Other' }));
    await tasks.update(organization, id, { title: 'New' }, always);
    expect(await board.stored(id)).toMatchObject({ title: 'New', description: 'Other', version: 3 });
  });

  it('a single write hides the mark, and a refusal says that the outcome is not known', async () => {
    const { id } = await board.put();
    meanwhile(() => change(id, { title: 'Other' }));
    const refused = tasks.update(organization, id, { title: 'New' }, (version) => {
      if (version !== 1) throw preconditionFailed();
    });
    await expect(refused).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(await board.stored(id)).toMatchObject({ title: 'Other', version: 3 });
  });

  it('a condition whose meaning is a refusal says so, too', async () => {
    const Key = { pk: randomUUID(), sk: 's' };
    const put: Write = {
      Put: { Item: { ...Key, by: 'us' }, ConditionExpression: 'attribute_not_exists(pk)' },
      otherwise: preconditionFailed,
    };
    meanwhile(() => transact(table, [{ Put: { Item: { ...Key, by: 'another' } } }]));
    await expect(transact(lossy, [put])).rejects.toBeInstanceOf(OutcomeUnknown);
  });

  it('a request that was carried out meanwhile under the same key is answered as that', async () => {
    const request = newRequest();
    meanwhile(async () => {
      clock.now += 2 * dayMs;
      await transact(table, [openIdempotency(table, clock).record(organization, request, 'twin')]);
    });
    const late = transact(lossy, [idempotency.record(organization, request, 'own')]);
    await expect(late).rejects.toBeInstanceOf(AlreadyDone);
  });

  it('what was to be deleted is deleted, whoever did it', async () => {
    const Key = { pk: randomUUID(), sk: 's' };
    await transact(table, [{ Put: { Item: Key } }]);
    const remove: Write = {
      Delete: { Key, ConditionExpression: 'attribute_exists(pk)' },
      otherwise: preconditionFailed,
    };
    loseAnswers(engine);
    await transact(lossy, [remove]);
    await expect(transact(lossy, [remove])).rejects.toMatchObject({ code: 'precondition_failed' });
  });
});
