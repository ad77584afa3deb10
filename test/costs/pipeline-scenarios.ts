import type { DynamoDBRecord } from 'aws-lambda';
import { handler as deliverWebhook } from '../../functions/pipeline/deliver-webhook.ts';
import { handler as publishEvents } from '../../functions/pipeline/publish-events.ts';
import { handler as purgeAgent } from '../../functions/pipeline/purge-agent.ts';
import { handler as runExecution } from '../../functions/pipeline/run-execution.ts';
import { contextOf } from '../../infra/local/functions.ts';
import { app } from '../../lib/app.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import { openExecutionStore } from '../../lib/table/executions.ts';
import { runJob } from '../functions/pipeline/jobs.ts';
import type { Pipeline } from '../functions/pipeline/pipeline.ts';
import { queueEvent } from '../queue-event.ts';
import { streamed } from '../table-stream.ts';
import { agentScenarios, executed, hired, onTask } from './agent-scenarios.ts';
import { type Company, text } from './company.ts';
import { register } from './webhook-scenarios.ts';

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

/** The first and the last of them. */
async function startAndEnd(company: Company): Promise<[DynamoDBRecord, DynamoDBRecord]> {
  const changes = await changesOf(company, 'execution');
  return [changes.at(0) as DynamoDBRecord, changes.at(-1) as DynamoDBRecord];
}

/** Steps of the pipeline, by function: what happened before, and the call that is then measured. */
export function pipelineScenarios({ receive }: Pipeline) {
  const created = async (company: Company, webhooks = 0, url?: string): Promise<DynamoDBRecord[]> => {
    for (let nth = 0; nth < webhooks; nth++) await register(company, url ? { url } : undefined);
    await company.ask('createTask', { body: { title: 'A task', description: text } });
    return changesOf(company, 'task');
  };

  /** The message of a new task's only delivery. */
  const awaited = async (company: Company, url?: string): Promise<string[]> => {
    await publish(await created(company, 1, url));
    return receive();
  };

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
      'a delivery overdue': async (company) => {
        await awaited(company);
        const until = timestamp(app().clock() + 60_000);
        return () => runJob('deliveries', until);
      },
    },
    publishEvents: {
      'a new task that nobody hears of': async (company) => {
        const records = await created(company);
        return () => publish(records);
      },
      'a new task that a webhook hears of': async (company) => {
        const records = await created(company, 1);
        return () => publish(records);
      },
      'a new task that ten webhooks hear of': async (company) => {
        const records = await created(company, 10);
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
        await executed(company, 1);
        const [start] = await startAndEnd(company);
        return () => publish([start]);
      },
      'the end of an execution': async (company) => {
        await hired(company);
        await executed(company, 1);
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
        const messages = await awaited(company, 'https://127.0.0.1:8443/nobody');
        return () => deliver(messages);
      },
      'delivered before': async (company) => {
        const messages = await awaited(company);
        await deliver(messages);
        return () => deliver(messages);
      },
      'met early': async (company) => {
        await deliver(await awaited(company, 'https://127.0.0.1:8443/nobody'));
        const messages = await receiveRetry(company);
        return () => deliver(messages);
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
      'carried out before': async (company) => {
        const messages = await accepted(company, agentScenarios.executeAgent['without a task'](company));
        await run(messages);
        return () => run(messages);
      },
      // By the store: a worker renews after ten seconds, which nobody waits for here.
      'a renewal of the hold': async (company) => {
        const [message = '{}'] = await accepted(company, agentScenarios.executeAgent['without a task'](company));
        const { organization, executionId: id } = JSON.parse(message);
        const store = openExecutionStore(company.service.table, 50);
        const [now = '', until = '', longer = ''] = [0, 30_000, 40_000].map((later) =>
          timestamp(app().clock() + later),
        );
        const held = await store.claim({ organization, id }, { claim: 'first', now, until });
        if (!held) throw new Error('It is not in hand.');
        return () => store.renew(held, longer);
      },
    },
    purgeAgent: { 'without executions': purging(0), 'with an execution': purging(1) },
  } satisfies Record<string, Record<string, (company: Company) => Promise<Act>>>;

  /** The message of the delivery that waits for its second attempt; the queue keeps it from view until then. */
  async function receiveRetry(company: Company): Promise<string[]> {
    const { organization } = company;
    const [webhook] = await company.ask<{ id: string }[]>('listWebhooks');
    const [delivery] = (await changes(company, webhook?.id ?? '')) as { deliveryId: string }[];
    const dueAt = timestamp(app().clock() + 300_000);
    return [
      JSON.stringify({ organization, webhookId: webhook?.id, deliveryId: delivery?.deliveryId, attempt: 2, dueAt }),
    ];
  }
  function changes(company: Company, id: string) {
    return company.ask<{ id: string; deliveryId: string }[]>('listDeliveries', { params: { id } });
  }
}
