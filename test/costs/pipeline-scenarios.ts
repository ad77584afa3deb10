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
import { isTurnToCount } from '../../lib/table/attempt-counts.ts';
import { attemptKey, retryOf } from '../../lib/table/attempt-items.ts';
import { placeOf } from '../../lib/table/attempt-log.ts';
import { postponeDue } from '../../lib/table/due.ts';
import { eventItem, sampledAfterMs } from '../../lib/table/event-log.ts';
import { leaseExecution, renewLease } from '../../lib/table/executions.ts';
import type { Key } from '../../lib/table/keys.ts';
import { getItem } from '../../lib/table/reads.ts';
import type { Item } from '../../lib/table/write.ts';
import { sentForm } from '../../lib/webhooks/attempt-messages.ts';
import { eventIdOf } from '../../lib/webhooks/derived-ids.ts';
import { runJob } from '../functions/pipeline/jobs.ts';
import type { Pipeline } from '../functions/pipeline/pipeline.ts';
import { queueEvent } from '../queue-event.ts';
import { streamed } from '../table-stream.ts';
import { agentScenarios, executed, hired, onTask } from './agent-scenarios.ts';
import { type Company, text } from './company.ts';
import { register } from './webhook-scenarios.ts';

/** A receiver that does not answer. */
const nobody = 'https://127.0.0.1:8443/nobody';

/** The call that is measured. */
type Act = () => Promise<unknown>;

/** The whole of a batch must be done with. */
async function batch(name: string, answer: Promise<{ batchItemFailures: unknown[] }>): Promise<void> {
  const { batchItemFailures } = await answer;
  if (batchItemFailures.length > 0) throw new Error(`${name} is not done with ${JSON.stringify(batchItemFailures)}`);
}

const publish = (records: readonly DynamoDBRecord[]) =>
  batch('publishEvents', publishEvents({ Records: [...records] }, contextOf('publishEvents', 60)));
const deliver = (bodies: readonly string[]) =>
  batch('deliverWebhook', deliverWebhook(queueEvent(bodies), contextOf('deliverWebhook', 30)));
const run = (bodies: readonly string[]) =>
  batch('runExecution', runExecution(queueEvent(bodies), contextOf('runExecution', 660)));

/** What the stream tells of a company's items of a kind, in order. */
async function changesOf({ service, organization }: Company, kind: string): Promise<DynamoDBRecord[]> {
  const records = await streamed(service, kind);
  return records.filter(({ dynamodb }) => dynamodb?.Keys?.pk?.S?.startsWith(`O#${organization}#`));
}

/** Whether an event is one of those that the sweeper checks, which chance says by its id: it takes more. */
const isSampled = (item: string, event: EventName) => {
  const id = eventIdOf(0, { item, version: 1, event });
  return 'due' in eventItem({ organization: 'org' as Organization, id, event, item, version: 1, data: '{}' });
};

/** The changes of an execution that tell of its start and of its end. */
async function startAndEnd(company: Company): Promise<[DynamoDBRecord, DynamoDBRecord]> {
  let id: string;
  do id = await executed(company, 1);
  while (isSampled(id, 'agent.spawned') || isSampled(id, 'agent.completed'));
  const changes = (await changesOf(company, 'execution')).filter(({ dynamodb }) =>
    dynamodb?.Keys?.pk?.S?.includes(ulidOf(id)),
  );
  return [changes.at(0) as DynamoDBRecord, changes.at(-1) as DynamoDBRecord];
}

/** Steps of the pipeline, by function: what happened before, and the call that is then measured. */
export function pipelineScenarios({ receive }: Pipeline) {
  const created = async (
    company: Company,
    { webhooks = 0, sampled = false }: { webhooks?: number; sampled?: boolean | undefined } = {},
  ): Promise<DynamoDBRecord[]> => {
    for (let nth = 0; nth < webhooks; nth++) await register(company);
    let id: string;
    do ({ id } = await company.ask('createTask', { body: { title: 'A task', description: text } }));
    while (isSampled(id, 'task.created') !== sampled);
    return (await changesOf(company, 'task')).slice(-1);
  };

  /** The message of a new task's only delivery, of which it is not the turn to count the attempts of its webhook. */
  const awaited = async (company: Company, { url, sampled }: { url?: string; sampled?: boolean } = {}) => {
    await register(company, url ? { url } : undefined);
    let messages: string[];
    do {
      await publish(await created(company, { sampled }));
      messages = await receive();
    } while (messages.some((body) => isTurnToCount(JSON.parse(body).deliveryId)));
    return messages;
  };

  /** The row of the attempt that a message asks for. */
  const rowOf = async ({ service }: Company, body: string): Promise<Item> =>
    (await getItem(service.table, attemptKey(placeOf(v.parse(DeliveryMessage, JSON.parse(body)))))) ?? {};

  /** The message of an execution that was accepted. */
  const accepted = async (company: Company, asked: Promise<object>): Promise<string[]> => {
    const { executionId } = await company.ask<{ executionId: string }>('executeAgent', await asked);
    return [JSON.stringify({ organization: company.organization, executionId })];
  };

  const deleted = async (company: Company, executions: number): Promise<DynamoDBRecord[]> => {
    const { params } = await hired(company);
    await executed(company, executions);
    await company.ask('deleteAgent', { params });
    return changesOf(company, 'purge');
  };
  const purging = (executions: number) => async (company: Company) => {
    await publish(await deleted(company, executions));
    const messages = await receive('purges');
    return () => batch('purgeAgent', purgeAgent(queueEvent(messages), contextOf('purgeAgent', 300)));
  };

  return {
    // First, for a sweep is of all organizations.
    sweepOverdue: {
      'no delivery overdue': async () => () => runJob('deliveries'),
      'no execution overdue': async () => () => runJob('executions'),
      'no purge overdue': async () => () => runJob('purges'),
      'a heartbeat': async () => () => runJob('heartbeat'),
      'a sampled event': async (company) => {
        await deliver(await awaited(company, { sampled: true }));
        const until = timestamp(processContext().clock() + sampledAfterMs);
        return () => runJob('deliveries', until);
      },
      'a retry overdue': async (company) => {
        const [body = ''] = await awaited(company, { url: nobody });
        await deliver([body]);
        const { pk, sk, dueAt } = (await rowOf(company, body)) as Key & { dueAt: string };
        // Five minutes before its time.
        await postponeDue(company.service, { key: { pk, sk }, dueAt }, timestamp(processContext().clock()));
        return () => runJob('deliveries');
      },
    },
    publishEvents: {
      'a new task without subscribers': async (company) => {
        const records = await created(company);
        return () => publish(records);
      },
      'a new task with a subscriber': async (company) => {
        const records = await created(company, { webhooks: 1 });
        return () => publish(records);
      },
      'a new task with a subscriber, sampled': async (company) => {
        const records = await created(company, { webhooks: 1, sampled: true });
        return () => publish(records);
      },
      'a new task with ten subscribers': async (company) => {
        const records = await created(company, { webhooks: 10 });
        return () => publish(records);
      },
      'a change that is no event': async (company) => {
        await created(company);
        const [{ id = '' } = {}] = await company.ask<{ id: string }[]>('listTasks');
        await company.ask('updateTask', { params: { id }, body: { title: 'Another' } });
        const records = (await changesOf(company, 'task')).slice(-1);
        return () => publish(records);
      },
      'the start of an execution': async (company) => {
        await hired(company);
        const [start] = await startAndEnd(company);
        return () => publish([start]);
      },
      'the end of an execution': async (company) => {
        await hired(company);
        const [, end] = await startAndEnd(company);
        return () => publish([end]);
      },
      'a deleted agent': async (company) => {
        const records = await deleted(company, 0);
        return () => publish(records);
      },
      'a heartbeat': async (company) => {
        await runJob('heartbeat');
        const records = (await streamed(company.service, 'heartbeat')).slice(-1);
        return () => publish(records);
      },
    },
    deliverWebhook: {
      delivered: async (company) => {
        const messages = await awaited(company);
        return () => deliver(messages);
      },
      'not delivered': async (company) => {
        const messages = await awaited(company, { url: nobody });
        return () => deliver(messages);
      },
      'delivered before': async (company) => {
        const messages = await awaited(company);
        await deliver(messages);
        return () => deliver(messages);
      },
      'received early': async (company) => {
        const [body = ''] = await awaited(company, { url: nobody });
        await deliver([body]);
        // The queue keeps the retry from view until it is due.
        const retry = retryOf(await rowOf(company, body)) as DeliveryMessage;
        return () => deliver([JSON.stringify(sentForm(retry))]);
      },
    },
    runExecution: {
      'without a task': async (company) => {
        const messages = await accepted(company, agentScenarios.executeAgent['without a task'](company));
        return () => run(messages);
      },
      'with a task': async (company) => {
        const messages = await accepted(company, onTask({ assignedAgent: 'writer' })(company));
        return () => run(messages);
      },
      'of an agent that ran before': async (company) => {
        await hired(company);
        await executed(company, 1);
        const messages = await accepted(company, agentScenarios.executeAgent['without a task'](company));
        return () => run(messages);
      },
      'executed before': async (company) => {
        const messages = await accepted(company, agentScenarios.executeAgent['without a task'](company));
        await run(messages);
        return () => run(messages);
      },
      // Without a worker, which would renew after ten seconds.
      'a renewal of the lease': async (company) => {
        const [message = '{}'] = await accepted(company, agentScenarios.executeAgent['without a task'](company));
        const { organization, executionId: id } = JSON.parse(message);
        const [now = '', until = '', longer = ''] = [0, 30_000, 40_000].map((later) =>
          timestamp(processContext().clock() + later),
        );
        const leased = await leaseExecution(company.service, { organization, id }, { claim: 'first', now, until });
        if (!leased) throw new Error('The execution is leased already.');
        return () => renewLease(company.service, leased, longer);
      },
    },
    purgeAgent: { 'without executions': purging(0), 'with an execution': purging(1) },
  } satisfies Record<string, Record<string, (company: Company) => Promise<Act>>>;
}
