import { randomBytes } from 'node:crypto';
import type { ExecutionListItem } from '../../../lib/contract/executions/executions.ts';
import type { ExecutionStep } from '../../../lib/contract/executions/steps.ts';
import type { TaskDetail } from '../../../lib/contract/tasks/tasks.ts';
import { callApi, waitFor } from './demo-client.ts';
import {
  createDemoTask,
  type Demo,
  execute,
  executionWithinSeconds,
  tasksPath,
  waitForDelivery,
} from './demo-steps.ts';

/**
 * Lets an agent with tools split a task in two, delegate one part to the writer and do the other one. A person then moves
 * both parts to done.
 *
 * @param writer the name of the agent that writes release notes
 */
export async function runSplit(demo: Demo, writer: string): Promise<void> {
  const { client } = demo;
  const lead = await createLead(demo);
  const release = await createDemoTask(demo, { title: 'Release 1.5', assignedAgent: lead });
  const [notes, links] = ['Write the release notes of 1.5', 'Check the links of 1.5'];
  // The simulator does what these words ask for, as a model would.
  const execution = await execute(demo, lead, {
    taskId: release,
    input: `Split the release into “${notes}” and “${links}”. Delegate “${notes}” to ${writer}, and do the other part yourself.`,
  });
  const steps = await callApi<ExecutionStep[]>(client, 'GET', `/api/agents/${lead}/executions/${execution.id}/steps`);
  console.log('\nIts steps:\n');
  for (const step of steps) console.log(`   ${lineOf(step)}`);
  const parts = steps.flatMap(createdIn);
  client.created.push(...parts.map((id) => `${tasksPath}/${id}`));

  await waitFor(client, `The end of the executions of ${writer}`, executionWithinSeconds, async () => {
    const path = `/api/agents/${writer}/executions?status=running`;
    return (await callApi<ExecutionListItem[]>(client, 'GET', path)).length === 0;
  });
  console.log();
  for (const id of [...parts, release]) {
    const { title, assignedAgent, status } = await callApi<TaskDetail>(client, 'GET', `${tasksPath}/${id}`);
    await callApi(client, 'PATCH', `${tasksPath}/${id}`, { status: 'done' });
    console.log(`A person moves “${title}” of ${assignedAgent} from ${status} to done.`);
    await waitForDelivery(demo, 'task.status_changed', id, 'done');
    await waitForDelivery(demo, 'task.completed', id, 'done');
  }
}

/** Creates an agent that may read tasks, create and change its own ones, and delegate; returns its name. */
async function createLead({ client }: Demo): Promise<string> {
  const name = `release-lead-${randomBytes(4).toString('hex')}`;
  const capabilities = ['tasks.read', 'tasks.write', 'delegate'];
  await callApi(client, 'POST', '/api/agents', {
    name,
    displayName: 'Release lead',
    category: 'development',
    systemPrompt:
      'You lead releases. Create a task for each part of your work with create_task, assigned to the agent that does it. Delegate the parts of others with delegate_task. When you have done a part yourself, set its status to qa_review. End with a short report.',
    capabilities,
  });
  client.created.push(`/api/agents/${name}`);
  console.log(`\nCreated the agent ${name} with the capabilities ${capabilities.join(', ')}.`);
  return name;
}

function lineOf({ number, kind, name, input, error }: ExecutionStep): string {
  const given = kind === 'tool' ? ` ${input}` : '';
  return `${number} ${kind} ${name}${given}${error ? ` failed: ${error}` : ''}`;
}

/** Returns the id of the task that a step has created. */
function createdIn({ name, output = '', error }: ExecutionStep): string[] {
  if (name !== 'create_task' || error !== undefined) return [];
  return [(JSON.parse(output) as { data: Pick<TaskDetail, 'id'> }).data.id];
}
