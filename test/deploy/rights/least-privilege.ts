import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect, it } from 'vitest';
import type { Job } from '../../../lib/names/consumers.ts';
import { until } from '../../journeys/deployment.ts';
import { createAgent, createTask, register } from '../../journeys/requests.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { executed } from '../agents.ts';
import { createDeployedOrganization, type Deployed, logged, resourceOf } from '../deployed.ts';
import { type Grant, without } from './grants.ts';

/** An action that needs a grant, and its results with and without the grant. */
type Proof = {
  construct: string;
  grant: Grant;
  act: (deployed: Deployed) => Promise<unknown>;
  withGrant: unknown;
  withoutGrant: unknown;
};

/** The time between two tasks of an action, in milliseconds. */
const taskIntervalMs = 3_000;

/**
 * Returns an action that creates tasks for a webhook until one is delivered, or a denial is in the log: on a busy machine the
 * emulator logs what a function wrote only with the next message of the function.
 */
const delivering = (construct: string, denied: RegExp) => async (deployed: Deployed) => {
  const since = Date.now();
  const receiver = await startReceiver();
  await register(deployed, { url: receiver.url, events: ['task.created'], secret: `of ${since}` });
  let nextTaskAt = since;
  return until('it is delivered, or a denial logged', async () => {
    if (Date.now() >= nextTaskAt) {
      await createTask(deployed, 'A task');
      nextTaskAt = Date.now() + taskIntervalMs;
    }
    if (receiver.received.length > 0) return 'delivered';
    return (await logged(construct, since, denied)).length > 0 && 'denied';
  });
};

/** Returns an action that calls a function as its schedule does. */
const calling = (construct: string, job: Job) => async () => {
  const FunctionName = await resourceOf('AWS::Lambda::Function', construct);
  const Payload = JSON.stringify({ detail: { job } });
  const { FunctionError } = await new LambdaClient({}).send(new InvokeCommand({ FunctionName, Payload }));
  return FunctionError ?? 'done';
};

const proofs: Record<string, Proof> = {
  'createTask needs its right to write the table': {
    construct: 'CreateTask',
    grant: (action) => action === 'dynamodb:PutItem',
    act: async ({ api }) => (await api.createTask({ body: { title: 'A task' } })).status,
    withGrant: 201,
    withoutGrant: 500,
  },
  'publishEvents needs its right to send messages': {
    construct: 'PublishEvents',
    grant: (action) => action.startsWith('sqs:SendMessage'),
    act: delivering('PublishEvents', /not authorized to perform: sqs:SendMessage/),
    withGrant: 'delivered',
    withoutGrant: 'denied',
  },
  'deliverWebhook needs its right to decrypt secrets': {
    construct: 'DeliverWebhook',
    grant: (action) => action === 'kms:Decrypt',
    act: delivering('DeliverWebhook', /not authorized to perform: kms:Decrypt/),
    withGrant: 'delivered',
    withoutGrant: 'denied',
  },
  'runExecution needs its right to call models': {
    construct: 'RunExecution',
    grant: (action) => action.startsWith('bedrock:'),
    act: async (deployed) => {
      const name = `worker-${Date.now()}`;
      await createAgent(deployed, name);
      const { status, error } = await executed(deployed, name, 'Work.');
      return [status, error];
    },
    withGrant: ['completed', undefined],
    withoutGrant: ['failed', 'This deployment has no access to the model.'],
  },
  'sweepOverdue needs its right to the index': {
    construct: 'SweepOverdue',
    grant: (action, resource) => action === 'dynamodb:Query' && resource.endsWith('/index/due'),
    act: calling('SweepOverdue', 'deliveries'),
    withGrant: 'done',
    withoutGrant: 'Unhandled',
  },
  'purgeAgent needs its right to the index': {
    construct: 'PurgeAgent',
    grant: (action, resource) => action === 'dynamodb:Query' && resource.endsWith('/index/due'),
    act: calling('PurgeAgent', 'purges'),
    withGrant: 'done',
    withoutGrant: 'Unhandled',
  },
};

/**
 * Defines the tests of grants: an action succeeds with its grant, and fails without it. In this order: a denial that the emulator
 * logs late is not seen by an action that has its grant.
 */
export function testLeastPrivilege(): void {
  it.each(Object.entries(proofs))('%s', async (name, { construct, grant, act, withGrant, withoutGrant }) => {
    const deployed = await createDeployedOrganization(`rights-${construct.toLowerCase()}`);
    expect([name, await act(deployed)]).toEqual([name, withGrant]);
    await without(construct, grant, async () => {
      expect([name, await act(deployed)]).toEqual([name, withoutGrant]);
    });
  });
}
