import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { outputsOf } from '../../../infra/aws/deployed/stack.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { paginationOf, successOf } from '../../api.ts';
import { until } from '../../journeys/deployment.ts';
import { attemptsOf, createAgent, createTask, execute, moveTask, register } from '../../journeys/requests.ts';
import { type Receiver, startReceiver } from '../../sender/receiver.ts';
import { executed } from '../agents.ts';
import { type Deployed, stack } from '../deployed.ts';
import { arrivesWithinMs } from '../webhooks.ts';

/** The secrets of the webhooks: of one, and of another one before and after its rotation. */
export const secrets = { kept: 'whsec_c2VjcmV0', before: 'the secret before', after: 'the secret after' };

/** A request that a client has sent with an idempotency key. */
export const keyed = { body: { title: 'Once' }, headers: { 'Idempotency-Key': 'of-the-former-version' } };

/** The receivers of a webhook with one secret, and of one whose secret was rotated. */
export type Board = { kept: Receiver; rotated: Receiver };

/**
 * Writes tasks, agents, prompts, skills, executions, a delegation, webhooks and delivered events into an organization, and waits
 * until all executions have ended and all events are delivered.
 *
 * @param neverAnswers a URL at which nothing answers, for an execution that is cancelled
 */
export async function writeBoard(deployed: Deployed, neverAnswers: string): Promise<Board> {
  const { api } = deployed;
  const [kept, rotated] = [await startReceiver(), await startReceiver()];
  const ofKept = await register(deployed, {
    url: kept.url,
    events: ['task.created', 'agent.completed'],
    secret: secrets.kept,
  });
  const ofRotated = await register(deployed, { url: rotated.url, events: ['task.completed'], secret: secrets.before });
  successOf(await api.rotateWebhookSecret({ params: { id: ofRotated }, body: { secret: secrets.after } }));
  successOf(await api.testWebhook({ params: { id: ofRotated }, body: { event: 'agent.failed' } }));

  for (const name of ['writer', 'reviewer', 'retired', 'dismissed']) await createAgent(deployed, name);
  const writer = { name: 'writer' };
  const changes = { systemPrompt: 'Write release notes.', description: 'Writes.', category: 'research' };
  successOf(await api.updateAgent({ params: writer, body: changes }));
  successOf(await api.updateAgent({ params: writer, body: { systemPrompt: 'Write short release notes.' } }));
  successOf(await api.updateSoul({ params: writer, body: { soul: 'Plain words.' } }));
  for (const skillId of ['sk_release-notes', 'sk_code-review'])
    successOf(await api.assignSkill({ params: writer, body: { skillId } }));
  successOf(await api.updateAgent({ params: { name: 'retired' }, body: { status: 'inactive' } }));
  successOf(await api.deleteAgent({ params: { name: 'dismissed' } }));

  const create = async (body: object) => successOf(await api.createTask({ body })).id;
  const drawn = await create({ title: 'Draw it', priority: 'high', projectId: 'proj_site', description: 'In colour.' });
  const built = await create({
    title: 'Build it',
    dependsOn: [drawn],
    assignedAgent: 'writer',
    projectId: 'proj_site',
  });
  await create({ title: 'Ship it', dependsOn: [drawn, built], priority: 'critical' });
  for (const status of ['assigned', 'in_progress', 'qa_review', 'up_for_review'])
    await create({ title: `A task that is ${status}`, status });
  const dropped = await create({ title: 'Drop it', dependsOn: [drawn] });
  successOf(await api.deleteTask({ params: { id: dropped } }));
  await moveTask(deployed, drawn, 'done');
  successOf(await api.createTask(keyed));

  await executed(deployed, 'writer', 'Write them.', { taskId: built, context: { version: '1.2' } });
  await executed(deployed, 'reviewer', 'Review them.');
  const cancelled = { name: 'reviewer', id: await execute(deployed, 'reviewer', `After ${neverAnswers}: go on.`) };
  successOf(await api.cancelExecution({ params: cancelled, body: {} }));
  const delegation = { toAgent: 'writer', instruction: 'Write the rest.' };
  successOf(await api.delegateTask({ params: { name: 'reviewer' }, body: delegation }));
  await until('all executions have ended', async () => {
    const running = paginationOf(await api.listExecutions({ query: 'status=running' }));
    return running.total === 0;
  });
  await kept.next(9 + 3, arrivesWithinMs);
  await rotated.next(2, arrivesWithinMs);
  await attemptsOf(deployed, ofKept, 9 + 3);
  await attemptsOf(deployed, ofRotated, 2);
  return { kept, rotated };
}

/** A webhook of an organization, its receiver, and the delivery of its only event. */
export type Failing = { deployed: Deployed; webhook: string; receiver: Receiver; deliveryId: string };

/** Registers a webhook whose receiver answers 500 to a number of requests, then 204, and creates an event. */
export async function startFailing(deployed: Deployed, failures: number): Promise<Failing> {
  const receiver = await startReceiver((response) =>
    response.writeHead(receiver.received.length > failures ? 204 : 500).end(),
  );
  const webhook = await register(deployed, { url: receiver.url, events: ['task.created'], secret: secrets.kept });
  await createTask(deployed, 'Again and again');
  await receiver.next(1, arrivesWithinMs);
  const [attempt] = await attemptsOf(deployed, webhook, 1);
  return { deployed, webhook, receiver, deliveryId: attempt?.deliveryId as string };
}

/** Waits until an attempt of a delivery is parked, after its webhook was paused. */
export async function parkedAttemptOf({ deliveryId }: Failing, withinMs: number): Promise<void> {
  const { TableName } = await outputsOf(stack);
  const ulid = deliveryId.slice('dlv_'.length);
  await until(
    'the attempt is parked',
    async () => {
      for await (const { Items = [] } of paginateScan({ client: new DynamoDBClient({}) }, { TableName }))
        if (Items.some(({ sk }) => sk?.S?.startsWith(`${keys.parkedPrefix}${ulid}`))) return true;
      return false;
    },
    withinMs,
  );
}
