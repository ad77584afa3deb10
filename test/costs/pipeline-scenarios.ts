import type { DynamoDBRecord } from 'aws-lambda';
import * as v from 'valibot';
import { handler as deliverWebhook } from '../../functions/pipeline/deliver-webhook.ts';
import { handler as publishEvents } from '../../functions/pipeline/publish-events.ts';
import { handler as purgeAgent } from '../../functions/pipeline/purge-agent.ts';
import { handler as runExecution } from '../../functions/pipeline/run-execution.ts';
import { contextOf } from '../../infra/local/functions.ts';
import { processContext } from '../../lib/context.ts';
import type { EventName } from '../../lib/contract/events.ts';
import { timestamp, ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { isTurnToCount } from '../../lib/table/deliveries/attempt-counts.ts';
import { attemptKey, retryOf } from '../../lib/table/deliveries/attempt-items.ts';
import { placeOf } from '../../lib/table/deliveries/attempt-log.ts';
import { eventItem, sampledAfterMs } from '../../lib/table/deliveries/event-log.ts';
import { leaseExecution, renewLease } from '../../lib/table/executions/executions.ts';
import type { Key } from '../../lib/table/keys.ts';
import { postponeDue } from '../../lib/table/lists/due.ts';
import { getItem } from '../../lib/table/reads.ts';
import type { Item } from '../../lib/table/write.ts';
import { sentForm } from '../../lib/webhooks/deliveries/attempt-messages.ts';
import { eventIdOf } from '../../lib/webhooks/deliveries/derived-ids.ts';
import { runJob } from '../functions/pipeline/call-functions.ts';
import type { TestPipeline } from '../functions/pipeline/test-pipeline.ts';
import { queueEvent } from '../queue-event.ts';
import { streamed } from '../table-stream.ts';
import { agentScenarios, executed, newAgent, onTask } from './agent-scenarios.ts';
import { type TestOrganization, text } from './test-organization.ts';
import { register } from './webhook-scenarios.ts';

/** A receiver that does not answer. */
const unreachableUrl = 'https://127.0.0.1:8443/unreachable';

/** The call that is measured. */
type Act = () => Promise<unknown>;

/** Waits for the response to a batch, in which no message may have failed. */
async function batch(name: string, answer: Promise<{ batchItemFailures: unknown[] }>): Promise<void> {
  const { batchItemFailures } = await answer;
  if (batchItemFailures.length > 0) throw new Error(`${name} failed for ${JSON.stringify(batchItemFailures)}`);
}

const publish = (records: readonly DynamoDBRecord[]) =>
  batch('publishEvents', publishEvents({ Records: [...records] }, contextOf('publishEvents', 60)));
const deliver = (bodies: readonly string[]) =>
  batch('deliverWebhook', deliverWebhook(queueEvent(bodies), contextOf('deliverWebhook', 30)));
const run = (bodies: readonly string[]) =>
  batch('runExecution', runExecution(queueEvent(bodies), contextOf('runExecution', 660)));

/** Returns the stream records of a caller's items of a kind, in order. */
async function changesOf({ service, organization }: TestOrganization, kind: string): Promise<DynamoDBRecord[]> {
  const records = await streamed(service, kind);
  return records.filter(({ dynamodb }) => dynamodb?.Keys?.pk?.S?.startsWith(`O#${organization}#`));
}

/** Returns whether the sweeper checks an event, which costs more: random bits of its id decide. */
const isSampled = (item: string, event: EventName) => {
  const id = eventIdOf(0, { item, version: 1, event });
  return 'due' in eventItem({ organization: 'org' as Organization, id, event, item, version: 1, data: '{}' });
};

/** Returns the stream records of the start and of the end of an execution. */
async function startAndEnd(caller: TestOrganization): Promise<[DynamoDBRecord, DynamoDBRecord]> {
  let id: string;
  do id = await executed(caller, 1);
  while (isSampled(id, 'agent.spawned') || isSampled(id, 'agent.completed'));
  const changes = (await changesOf(caller, 'execution')).filter(({ dynamodb }) =>
    dynamodb?.Keys?.pk?.S?.includes(ulidOf(id)),
  );
  return [changes.at(0) as DynamoDBRecord, changes.at(-1) as DynamoDBRecord];
}

/** Returns the scenarios of the pipeline by function: each prepares the table, and returns the call to measure. */
export function pipelineScenarios({ receive }: TestPipeline) {
  const created = async (
    caller: TestOrganization,
    { webhooks = 0, sampled = false }: { webhooks?: number; sampled?: boolean | undefined } = {},
  ): Promise<DynamoDBRecord[]> => {
    for (let nth = 0; nth < webhooks; nth++) await register(caller);
    let id: string;
    do ({ id } = await caller.ask('createTask', { body: { title: 'A task', description: text } }));
    while (isSampled(id, 'task.created') !== sampled);
    return (await changesOf(caller, 'task')).slice(-1);
  };

  /** Returns the message of a new task's only delivery, which does not count the attempts of its webhook. */
  const awaited = async (caller: TestOrganization, { url, sampled }: { url?: string; sampled?: boolean } = {}) => {
    await register(caller, url ? { url } : undefined);
    let messages: string[];
    do {
      await publish(await created(caller, { sampled }));
      messages = await receive();
    } while (messages.some((body) => isTurnToCount(JSON.parse(body).deliveryId)));
    return messages;
  };

  /** Returns the row of the attempt that a message asks for. */
  const rowOf = async ({ service }: TestOrganization, body: string): Promise<Item> =>
    (await getItem(service.table, attemptKey(placeOf(v.parse(DeliveryMessage, JSON.parse(body)))))) ?? {};

  /** Returns the message of an accepted execution. */
  const accepted = async (caller: TestOrganization, asked: Promise<object>): Promise<string[]> => {
    const { executionId } = await caller.ask<{ executionId: string }>('executeAgent', await asked);
    return [JSON.stringify({ organization: caller.organization, executionId })];
  };

  const deleted = async (caller: TestOrganization, executions: number): Promise<DynamoDBRecord[]> => {
    const { params } = await newAgent(caller);
    await executed(caller, executions);
    await caller.ask('deleteAgent', { params });
    return changesOf(caller, 'purge');
  };
  const purging = (executions: number) => async (caller: TestOrganization) => {
    await publish(await deleted(caller, executions));
    const messages = await receive('purges');
    return () => batch('purgeAgent', purgeAgent(queueEvent(messages), contextOf('purgeAgent', 300)));
  };

  return {
    // First, because a sweep covers all organizations.
    sweepOverdue: {
      'no delivery overdue': async () => () => runJob('deliveries'),
      'no execution overdue': async () => () => runJob('executions'),
      'no purge overdue': async () => () => runJob('purges'),
      'a heartbeat': async () => () => runJob('heartbeat'),
      'a sampled event': async (caller) => {
        await deliver(await awaited(caller, { sampled: true }));
        const until = timestamp(processContext().clock() + sampledAfterMs);
        return () => runJob('deliveries', until);
      },
      'a retry overdue': async (caller) => {
        const [body = ''] = await awaited(caller, { url: unreachableUrl });
        await deliver([body]);
        const { pk, sk, dueAt } = (await rowOf(caller, body)) as Key & { dueAt: string };
        // Five minutes before its time.
        await postponeDue(caller.service, { key: { pk, sk }, dueAt }, timestamp(processContext().clock()));
        return () => runJob('deliveries');
      },
    },
    publishEvents: {
      'a new task without subscribers': async (caller) => {
        const records = await created(caller);
        return () => publish(records);
      },
      'a new task with a subscriber': async (caller) => {
        const records = await created(caller, { webhooks: 1 });
        return () => publish(records);
      },
      'a new task with a subscriber, sampled': async (caller) => {
        const records = await created(caller, { webhooks: 1, sampled: true });
        return () => publish(records);
      },
      'a new task with ten subscribers': async (caller) => {
        const records = await created(caller, { webhooks: 10 });
        return () => publish(records);
      },
      'a change that is no event': async (caller) => {
        await created(caller);
        const [{ id = '' } = {}] = await caller.ask<{ id: string }[]>('listTasks');
        await caller.ask('updateTask', { params: { id }, body: { title: 'Another' } });
        const records = (await changesOf(caller, 'task')).slice(-1);
        return () => publish(records);
      },
      'the start of an execution': async (caller) => {
        await newAgent(caller);
        const [start] = await startAndEnd(caller);
        return () => publish([start]);
      },
      'the end of an execution': async (caller) => {
        await newAgent(caller);
        const [, end] = await startAndEnd(caller);
        return () => publish([end]);
      },
      'a deleted agent': async (caller) => {
        const records = await deleted(caller, 0);
        return () => publish(records);
      },
      'a heartbeat': async (caller) => {
        await runJob('heartbeat');
        const records = (await streamed(caller.service, 'heartbeat')).slice(-1);
        return () => publish(records);
      },
    },
    deliverWebhook: {
      delivered: async (caller) => {
        const messages = await awaited(caller);
        return () => deliver(messages);
      },
      'not delivered': async (caller) => {
        const messages = await awaited(caller, { url: unreachableUrl });
        return () => deliver(messages);
      },
      'delivered before': async (caller) => {
        const messages = await awaited(caller);
        await deliver(messages);
        return () => deliver(messages);
      },
      'received early': async (caller) => {
        const [body = ''] = await awaited(caller, { url: unreachableUrl });
        await deliver([body]);
        // The queue keeps the retry from view until it is due.
        const retry = retryOf(await rowOf(caller, body)) as DeliveryMessage;
        return () => deliver([JSON.stringify(sentForm(retry))]);
      },
    },
    runExecution: {
      'without a task': async (caller) => {
        const messages = await accepted(caller, agentScenarios.executeAgent['without a task'](caller));
        return () => run(messages);
      },
      'with a task': async (caller) => {
        const messages = await accepted(caller, onTask({ assignedAgent: 'writer' })(caller));
        return () => run(messages);
      },
      'of an agent that ran before': async (caller) => {
        await newAgent(caller);
        await executed(caller, 1);
        const messages = await accepted(caller, agentScenarios.executeAgent['without a task'](caller));
        return () => run(messages);
      },
      'executed before': async (caller) => {
        const messages = await accepted(caller, agentScenarios.executeAgent['without a task'](caller));
        await run(messages);
        return () => run(messages);
      },
      // Without a worker, which renews only after ten seconds.
      'a renewal of the lease': async (caller) => {
        const [message = '{}'] = await accepted(caller, agentScenarios.executeAgent['without a task'](caller));
        const { organization, executionId: id } = JSON.parse(message);
        const [now = '', until = '', longer = ''] = [0, 30_000, 40_000].map((later) =>
          timestamp(processContext().clock() + later),
        );
        const leased = await leaseExecution(caller.service, { organization, id }, { leaseId: 'first', now, until });
        if (!leased) throw new Error('The execution is leased already.');
        return () => renewLease(caller.service, leased, longer);
      },
    },
    purgeAgent: { 'without executions': purging(0), 'with an execution': purging(1) },
  } satisfies Record<string, Record<string, (caller: TestOrganization) => Promise<Act>>>;
}
