import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CrewboardError, waitForExecution } from '../../../lib/client/client.ts';
import type { Execution, NewAgent, NewExecution, NewTask } from '../../../lib/client/operations.ts';
import type { Delivery } from '../../../lib/client/verify-webhook.ts';
import { eventNames } from '../../../lib/contract/webhooks/events.ts';
import { simulatorName } from '../../../lib/model/answering-model.ts';
import { Problem } from '../../problem.ts';
import { type DemoClient, pollMs, waitFor } from './demo-client.ts';
import type { Receiver } from './demo-receiver.ts';

const deliveryWithinSeconds = 30;

/** What each step of the demo uses. */
export type Demo = { client: DemoClient; receiver: Receiver; secret: string };

/**
 * Runs the first part of the demo: creates an agent, a webhook and two tasks, executes the agent on both, and checks the
 * deliveries.
 *
 * @returns the name of the agent
 */
export async function runExecutions(demo: Demo): Promise<string> {
  const { api } = demo.client;
  const agent = await createAgent(demo);
  await registerWebhook(demo);

  const draft = await createDemoTask(demo, { title: 'Write the release notes of 1.4', priority: 'high' });
  await api.updateTask({ params: { id: draft }, body: { assignedAgent: agent, status: 'assigned' } });
  console.log(`The task is assigned to ${agent}.`);
  const announcement = await createDemoTask(demo, { title: 'Announce 1.4', assignedAgent: agent, dependsOn: [draft] });
  const start = { taskId: announcement, input: 'Write the announcement of 1.4 from its release notes.' };
  const { status, code, message } = await errorOf(api.executeAgent({ params: { name: agent }, body: start }));
  console.log(`It depends on the first task, so its execution is rejected: ${status} ${code}. ${message}`);
  await waitForDelivery(demo, 'task.status_changed', draft, 'assigned');
  await waitForDelivery(demo, 'task.created', announcement, 'backlog');

  const { model } = await execute(demo, agent, {
    taskId: draft,
    input: 'Write the release notes of version 1.4.',
    context: { changes: ['Agents can be executed', 'Two quality gates check their output'] },
  });
  if (model === simulatorName)
    console.log('The built-in simulator answers in this demo. It is no model and does no work.');
  await api.updateTask({ params: { id: draft }, body: { status: 'done' } });
  console.log('\nA person has reviewed the output and moves the task to done.');
  await waitForDelivery(demo, 'task.status_changed', draft, 'done');
  await waitForDelivery(demo, 'task.completed', draft, 'done');

  console.log('\nThe second task is no longer blocked.');
  await execute(demo, agent, start);
  return agent;
}

/**
 * Returns the error response of a call.
 *
 * @throws `Problem` if the call succeeds
 */
async function errorOf(call: Promise<unknown>): Promise<CrewboardError> {
  const error: unknown = await call.then(
    () => new Problem('an execution of a blocked task has started.'),
    (error: unknown) => error,
  );
  if (error instanceof CrewboardError && error.status > 0) return error;
  throw error;
}

/** Creates an agent with a unique name and two skills, and returns the name. */
async function createAgent({ client }: Demo): Promise<string> {
  const name = `release-writer-${randomBytes(4).toString('hex')}`;
  const body: NewAgent = {
    name,
    displayName: 'Release writer',
    category: 'development',
    soul: 'You write plainly and promise nothing that does not exist.',
    systemPrompt: 'You write release notes for the users of a product, in at most ten lines.',
  };
  await client.api.createAgent({ body });
  client.created.push({ kind: 'agent', id: name });
  const skills = ['sk_release-notes', 'sk_research-brief'];
  for (const skillId of skills) await client.api.assignSkill({ params: { name }, body: { skillId } });
  console.log(`Created the agent ${name} with a soul, a system prompt and the skills ${skills.join(' and ')}.`);
  return name;
}

async function registerWebhook({ client, receiver, secret }: Demo): Promise<void> {
  // The demo deletes at its end what it has created, and waits for no deliveries then.
  const events = eventNames.filter((name) => name !== 'task.deleted');
  const { data: webhook } = await client.api.registerWebhook({ body: { url: receiver.url, events, secret } });
  client.created.push({ kind: 'webhook', id: webhook.id });
  console.log(`Registered the webhook ${webhook.id} for the events ${events.join(', ')}.\n`);
}

/** Creates a task, and returns its id. */
export async function createDemoTask({ client }: Pick<Demo, 'client'>, body: NewTask): Promise<string> {
  const { data: task } = await client.api.createTask({ body });
  client.created.push({ kind: 'task', id: task.id });
  console.log(`Created the task ${task.id} “${task.title}”.`);
  return task.id;
}

/** Executes the agent on a task, waits for the end, and prints the output. Returns the execution. */
export async function execute(demo: Demo, name: string, body: NewExecution & { taskId: string }): Promise<Execution> {
  const { api } = demo.client;
  const { data: started } = await api.executeAgent({ params: { name }, body });
  const { executionId: id } = started;
  console.log(`\nStarted an execution: ${id} is ${started.status}.`);
  const execution = await waitForExecution(api, { name, id, wait: () => pause(pollMs) });
  const { status, output, tokensUsed, durationMs, qualityGates, error } = execution;
  if (status === 'failed') throw new Problem(`the execution failed. ${error}`);
  const { data: task } = await api.getTask({ params: { id: body.taskId } });
  await waitForDelivery(demo, 'agent.spawned', id, 'running');
  await waitForDelivery(demo, 'task.status_changed', body.taskId, 'in_progress');
  await waitForDelivery(demo, 'agent.completed', id, status);
  await waitForDelivery(demo, 'task.status_changed', body.taskId, task.status);
  const { selfTest, qaReview } = qualityGates;
  console.log(
    `The execution is ${status} after ${durationMs} ms and ${tokensUsed} tokens:\n\n${indented(output ?? '')}\n`,
  );
  console.log(`Its self-test has ${selfTest}, its QA review has ${qaReview}. The task is now in ${task.status}.`);
  return execution;
}

/** Waits until the receiver has received an event. */
export async function waitForDelivery(
  { client, receiver }: Demo,
  event: Delivery['event'],
  id: string,
  status: string,
): Promise<void> {
  const look = () => receiver.hasReceived(event, id, status);
  await waitFor(client, `The delivery of ${event} for ${id}`, deliveryWithinSeconds, look);
}

function indented(text: string): string {
  return text.replace(/^/gm, '   | ');
}
