import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { SQSClient } from '@aws-sdk/client-sqs';
import { openAgents } from './agents/agents.ts';
import { openDelegations } from './agents/delegations.ts';
import { openExecutions, readRunningCap } from './agents/executions.ts';
import { openImprovements } from './agents/improvements.ts';
import { openMetrics } from './agents/metrics.ts';
import { openPurges } from './agents/purges.ts';
import { openRuns } from './agents/runs.ts';
import { clientConfig, environment, type QueueName, queues, standardModel } from './contract/deployment.ts';
import { ulidFrom } from './contract/ids.ts';
import type { DeliveryMessage } from './contract/messages.ts';
import { log } from './log.ts';
import { openQueue } from './sqs/queue.ts';
import { openAgentStore } from './table/agents.ts';
import { openTable } from './table/client.ts';
import { openDeliveryStore } from './table/deliveries.ts';
import { openExecutionStore } from './table/executions.ts';
import { openIdempotency } from './table/idempotency.ts';
import { openImprovementStore } from './table/improvements.ts';
import { openMetricsStore } from './table/metrics.ts';
import { openPurgeStore } from './table/purges.ts';
import { openSettings } from './table/settings.ts';
import { openTaskStore } from './table/tasks.ts';
import { openTokens } from './table/tokens.ts';
import { openWebhookStore } from './table/webhooks.ts';
import { openTasks } from './tasks/tasks.ts';
import { openDeliveries } from './webhooks/deliveries.ts';
import { readLadder } from './webhooks/ladder.ts';
import { allowedReceivers } from './webhooks/receivers.ts';
import { openKeyFile, type Secrets } from './webhooks/secrets.ts';
import { openTestDelivery } from './webhooks/test-delivery.ts';
import { openWebhooks } from './webhooks/webhooks.ts';

/** What an app is made of. Tests pass their own clock. */
export type Collaborators = {
  environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** How webhook secrets are kept, if not under a key file. */
  secrets?: Secrets;
};

/** The composition root: stores, queues, clock and log, wired once for each container. */
export function openApp({
  environment: variables,
  clock,
  secrets = openKeyFile(variables[environment.secretsKeyFile]),
}: Collaborators) {
  const table = openTable(required(variables, environment.tableName), variables[environment.dynamodbEndpoint]);
  const sqs = new SQSClient(clientConfig(variables[environment.sqsEndpoint]));
  const ulid = () => ulidFrom(clock(), randomBytes(10));
  const allowed = allowedReceivers(variables[environment.allowedReceivers] ?? '');
  const defaultModel = variables[environment.defaultModel] || standardModel;
  const webhooks = openWebhookStore(table);
  const deliveries = openDeliveryStore(table);
  const agents = openAgentStore(table, defaultModel);
  const tasks = openTaskStore(table);
  const purges = openPurgeStore(table);
  const settings = openSettings(table);
  const executions = openExecutionStore(table, readRunningCap(variables[environment.runningCap] || undefined));
  // Only the pipeline's functions are given queues, each those that it sends to; the others never send.
  const queue = <Message = DeliveryMessage>(name: QueueName) =>
    openQueue<Message>(sqs, variables[queues[name].urlVariable] ?? '');
  return {
    clock,
    ulid,
    /** Which receivers the operator has opened. */
    allowed,
    log: log(),
    agents: openAgents({ store: agents, purges, settings, defaultModel, ulid, clock }),
    executions: openExecutions({ store: executions, agents, tasks, ulid, clock }),
    delegations: openDelegations({ store: executions, agents, tasks, ulid, clock }),
    metrics: openMetrics({ store: openMetricsStore(table), agents, clock }),
    improvements: openImprovements({
      store: openImprovementStore(table, clock),
      agents,
      executions,
      clock,
      pause,
    }),
    runs: openRuns({ store: executions, agents, tasks, queue: queue('executions'), clock, pause }),
    /** The deployment's default model, where an organization sets none. */
    defaultModel,
    settings,
    tokens: openTokens(table),
    idempotency: openIdempotency(table, clock),
    tasks: openTasks(tasks, ulid, clock),
    webhooks: openWebhooks({ store: webhooks, deliveries, secrets, allowed, ulid, clock }),
    deliveries: openDeliveries({
      store: deliveries,
      webhooks,
      queues: {
        deliveries: queue('deliveries'),
        slowDeliveries: queue('slowDeliveries'),
        firstRetry: queue('firstRetry'),
        secondRetry: queue('secondRetry'),
        thirdRetry: queue('thirdRetry'),
      },
      secrets,
      ladder: readLadder(variables[environment.retryLadder] || undefined),
      ulid,
      clock,
    }),
    purges: openPurges({ store: purges, queue: queue('purges'), clock }),
    testDelivery: openTestDelivery({ store: deliveries, webhooks, secrets, ulid, clock }),
    /** Where what can never be handled waits for an operator. */
    deadChanges: queue<unknown>('deadChanges'),
  };
}

export type App = ReturnType<typeof openApp>;

let opened: App | undefined;

/** The app of this process, opened when it is first asked for. */
export function app(): App {
  opened ??= openApp({ environment: process.env, clock: Date.now });
  return opened;
}

/** Waits, or until the signal aborts, whichever is first. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}

function required(variables: Collaborators['environment'], name: string): string {
  const value = variables[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}
