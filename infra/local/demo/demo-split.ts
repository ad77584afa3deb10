import { randomBytes } from 'node:crypto';
import type { Answer } from '../../../lib/client/client.ts';
import type { NewAgent } from '../../../lib/client/operations.ts';
import { waitFor } from './demo-client.ts';
import { createDemoTask, type Demo, execute, waitForDelivery } from './demo-steps.ts';

type ExecutionStep = Answer<'listSteps'>['data'][number];

/** The longest time of an execution. The service ends every execution within ten minutes after its start. */
const executionWithinSeconds = 720;

/**
 * Lets an agent with tools split a task in two, delegate one part to the writer and do the other one. A person then moves
 * both parts to done.
 *
 * @param writer the name of the agent that writes release notes
 */
export async function runSplit(demo: Demo, writer: string): Promise<void> {
  const { api, created } = demo.client;
  const lead = await createLead(demo);
  const release = await createDemoTask(demo, { title: 'Release 1.5', assignedAgent: lead });
  const [notes, links] = ['Write the release notes of 1.5', 'Check the links of 1.5'];
  // The simulator does what these words ask for, as a model would.
  const execution = await execute(demo, lead, {
    taskId: release,
    input: `Split the release into “${notes}” and “${links}”. Delegate “${notes}” to ${writer}, and do the other part yourself.`,
  });
  const { data: steps } = await api.listSteps({ params: { name: lead, id: execution.id } });
  console.log('\nIts steps:\n');
  for (const step of steps) console.log(`   ${lineOf(step)}`);
  const parts = steps.flatMap(createdIn);
  created.push(...parts.map((id) => ({ kind: 'task', id }) as const));

  await waitFor(demo.client, `The end of the executions of ${writer}`, executionWithinSeconds, async () => {
    const { data } = await api.listAgentExecutions({ params: { name: writer }, query: { status: 'running' } });
    return data.length === 0;
  });
  console.log();
  for (const id of [...parts, release]) {
    const { data: task } = await api.getTask({ params: { id } });
    await api.updateTask({ params: { id }, body: { status: 'done' } });
    console.log(`A person moves “${task.title}” of ${task.assignedAgent} from ${task.status} to done.`);
    await waitForDelivery(demo, 'task.status_changed', id, 'done');
    await waitForDelivery(demo, 'task.completed', id, 'done');
  }
}

/** Creates an agent that may read tasks, create and change its own ones, and delegate; returns its name. */
async function createLead({ client }: Demo): Promise<string> {
  const name = `release-lead-${randomBytes(4).toString('hex')}`;
  const body = {
    name,
    displayName: 'Release lead',
    category: 'development',
    systemPrompt:
      'You lead releases. Create a task for each part of your work with create_task, assigned to the agent that does it. Delegate the parts of others with delegate_task. When you have done a part yourself, set its status to qa_review. End with a short report.',
    capabilities: ['tasks.read', 'tasks.write', 'delegate'],
  } satisfies NewAgent;
  await client.api.createAgent({ body });
  client.created.push({ kind: 'agent', id: name });
  console.log(`\nCreated the agent ${name} with the capabilities ${body.capabilities.join(', ')}.`);
  return name;
}

function lineOf({ number, kind, name, input, error }: ExecutionStep): string {
  const given = kind === 'tool' ? ` ${input}` : '';
  return `${number} ${kind} ${name}${given}${error ? ` failed: ${error}` : ''}`;
}

/** Returns the id of the task that a step has created. */
function createdIn({ name, output = '', error }: ExecutionStep): string[] {
  if (name !== 'create_task' || error !== undefined) return [];
  return [(JSON.parse(output) as { data: { id: string } }).data.id];
}
