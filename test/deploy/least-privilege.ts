import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect, it } from 'vitest';
import { until } from '../journeys/deployment.ts';
import { startReceiver } from '../journeys/receiver.ts';
import { createTask, register } from '../journeys/stories.ts';
import { execute, hire } from './agents.ts';
import { type Deployed, logged, openDeployed, resourceOf } from './deployed.ts';
import { type Grant, without } from './grants.ts';

/** A story that needs a grant: how it ends with it and without. */
type Proof = {
  /** The function that has the grant. */
  construct: string;
  grant: Grant;
  story: (deployed: Deployed) => Promise<unknown>;
  ends: unknown;
  endsWithout: unknown;
};

/** Tells a task to a receiver, and answers what came: the delivery, or the log's word that a function may not. */
const telling = (construct: string, denied: RegExp) => async (deployed: Deployed) => {
  const since = Date.now();
  const receiver = await startReceiver();
  await register(deployed, { url: receiver.url, events: ['task.created'], secret: `of ${since}` });
  await createTask(deployed, 'Told');
  return until(
    'it is delivered, or a denial logged',
    async () =>
      (receiver.received.length > 0 && 'delivered') ||
      ((await logged(construct, since, denied)).length > 0 && 'denied'),
    60_000,
  );
};

async function sweep(): Promise<unknown> {
  const FunctionName = await resourceOf('AWS::Lambda::Function', 'SweepOverdue');
  const { FunctionError } = await new LambdaClient({}).send(
    new InvokeCommand({ FunctionName, Payload: '{"detail":{"job":"deliveries"}}' }),
  );
  return FunctionError ?? 'swept';
}

const proofs: Record<string, Proof> = {
  'a task is put on the board by createTask’s right to write the table': {
    construct: 'CreateTask',
    grant: (action) => action === 'dynamodb:PutItem',
    story: async ({ api }) => (await api('POST', '/api/kanban-tasks', { body: { title: 'Put' } })).status,
    ends: 201,
    endsWithout: 500,
  },
  'an event leads to deliveries by publishEvents’ right to send': {
    construct: 'PublishEvents',
    grant: (action) => action.startsWith('sqs:SendMessage'),
    story: telling('PublishEvents', /not authorized to perform: sqs:SendMessage/),
    ends: 'delivered',
    endsWithout: 'denied',
  },
  'a delivery is signed by deliverWebhook’s right to decrypt': {
    construct: 'DeliverWebhook',
    grant: (action) => action === 'kms:Decrypt',
    story: telling('DeliverWebhook', /not authorized to perform: kms:Decrypt/),
    ends: 'delivered',
    endsWithout: 'denied',
  },
  'an execution completes by runExecution’s right to ask models': {
    construct: 'RunExecution',
    grant: (action) => action.startsWith('bedrock:'),
    story: async (deployed) => {
      const name = `worker-${Date.now()}`;
      await hire(deployed, name);
      const { status, error } = await execute(deployed, name, { input: 'Work.' });
      return [status, error];
    },
    ends: ['completed', undefined],
    endsWithout: ['failed', 'This deployment has no access to the model.'],
  },
  'what is overdue is found by sweepOverdue’s right to its index': {
    construct: 'SweepOverdue',
    grant: (action, resource) => action === 'dynamodb:Query' && resource.endsWith('/index/due'),
    story: sweep,
    ends: 'swept',
    endsWithout: 'Unhandled',
  },
};

/** No grant is there for nothing: what needs it fails without it, and with it does not. */
export function tellOfLeastPrivilege(): void {
  it.each(Object.entries(proofs))('%s', async (name, { construct, grant, story, ends, endsWithout }) => {
    const deployed = await openDeployed(`rights-${construct.toLowerCase()}`);
    await without(construct, grant, async () => {
      expect([name, await story(deployed)]).toEqual([name, endsWithout]);
    });
    expect([name, await story(deployed)]).toEqual([name, ends]);
  });
}
