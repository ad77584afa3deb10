import { randomBytes } from 'node:crypto';
import type { Delivery } from '../../../lib/client/verify-webhook.ts';
import type { Execution, ExecutionStarted, NewExecution } from '../../../lib/contract/executions/executions.ts';
import { eventNames } from '../../../lib/contract/webhooks/events.ts';
import { simulatorName } from '../../../lib/model/answering-model.ts';
import { Problem } from '../../problem.ts';
import { callApi, callForError, type DemoClient, waitFor } from './demo-client.ts';
import type { Receiver } from './demo-receiver.ts';

/** The longest time of an execution. The service ends every execution within ten minutes after its start. */
export const executionWithinSeconds = 720;
const deliveryWithinSeconds = 30;

export const tasksPath = '/api/kanban-tasks';

/** What each step of the demo uses. */
export type Demo = { client: DemoClient; receiver: Receiver; secret: string };

/**
 * Runs the first part of the demo: creates an agent, a webhook and two tasks, executes the agent on both, and checks the
 * deliveries.
 *
 * @returns the name of the agent
 */
export async function runExecutions(demo: Demo): Promise<string> {
  const { client } = demo;
  const agent = await createAgent(demo);
  await registerWebhook(demo);

  const draft = await createDemoTask(demo, { title: 'Write the release notes of 1.4', priority: 'high' });
  await callApi(client, 'PATCH', `${tasksPath}/${draft}`, { assignedAgent: agent, status: 'assigned' });
  console.log(`The task is assigned to ${agent}.`);
  const announcement = await createDemoTask(demo, { title: 'Announce 1.4', assignedAgent: agent, dependsOn: [draft] });
  const start = { taskId: announcement, input: 'Write the announcement of 1.4 from its release notes.' };
  const { status, code, message } = await callForError(client, 'POST', `/api/agents/${agent}/execute`, start);
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
  await callApi(client, 'PATCH', `${tasksPath}/${draft}`, { status: 'done' });
  console.log('\nA person has reviewed the output and moves the task to done.');
  await waitForDelivery(demo, 'task.status_changed', draft, 'done');
  await waitForDelivery(demo, 'task.completed', draft, 'done');

  console.log('\nThe second task is no longer blocked.');
  await execute(demo, agent, start);
  return agent;
}

/** Creates an agent with a unique name and two skills, and returns the name. */
async function createAgent({ client }: Demo): Promise<string> {
  const name = `release-writer-${randomBytes(4).toString('hex')}`;
  await callApi(client, 'POST', '/api/agents', {
    name,
    displayName: 'Release writer',
    category: 'development',
    soul: 'You write plainly and promise nothing that does not exist.',
    systemPrompt: 'You write release notes for the users of a product, in at most ten lines.',
  });
  client.created.push(`/api/agents/${name}`);
  const skills = ['sk_release-notes', 'sk_research-brief'];
  for (const skillId of skills) await callApi(client, 'POST', `/api/agents/${name}/skills`, { skillId });
  console.log(`Created the agent ${name} with a soul, a system prompt and the skills ${skills.join(' and ')}.`);
  return name;
}

async function registerWebhook({ client, receiver, secret }: Demo): Promise<void> {
  // The demo deletes at its end what it has created, and waits for no deliveries then.
  const events = eventNames.filter((name) => name !== 'task.deleted');
  const body = { url: receiver.url, events, secret };
  const { id } = await callApi(client, 'POST', '/api/webhooks/register', body);
  client.created.push(`/api/webhooks/${id}`);
  console.log(`Registered the webhook ${id} for the events ${events.join(', ')}.\n`);
}

/** Creates a task, and returns its id. */
export async function createDemoTask({ client }: Pick<Demo, 'client'>, task: object): Promise<string> {
  const { id, title } = await callApi<{ id: string; title: string }>(client, 'POST', tasksPath, task);
  client.created.push(`${tasksPath}/${id}`);
  console.log(`Created the task ${id} “${title}”.`);
  return id;
}

/** Executes the agent on a task, waits for the end, and prints the output. Returns the execution. */
export async function execute(demo: Demo, agent: string, start: NewExecution & { taskId: string }): Promise<Execution> {
  const { client } = demo;
  const started = await callApi<ExecutionStarted>(client, 'POST', `/api/agents/${agent}/execute`, start);
  const { executionId: id } = started;
  console.log(`\nStarted an execution: ${id} is ${started.status}.`);
  const execution = await waitFor(client, `The end of ${id}`, executionWithinSeconds, async () => {
    const found = await callApi<Execution>(client, 'GET', `/api/agents/${agent}/executions/${id}`);
    return found.status !== 'running' && found;
  });
  const { status, output, tokensUsed, durationMs, qualityGates, error } = execution;
  if (status === 'failed') throw new Problem(`the execution failed. ${error}`);
  const task = await callApi<{ status: string }>(client, 'GET', `${tasksPath}/${start.taskId}`);
  await waitForDelivery(demo, 'agent.spawned', id, 'running');
  await waitForDelivery(demo, 'task.status_changed', start.taskId, 'in_progress');
  await waitForDelivery(demo, 'agent.completed', id, status);
  await waitForDelivery(demo, 'task.status_changed', start.taskId, task.status);
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
