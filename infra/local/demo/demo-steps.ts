import { randomBytes } from 'node:crypto';
import type { Delivery } from '../../../lib/client/verify-webhook.ts';
import { eventNames } from '../../../lib/contract/events.ts';
import type { Execution, ExecutionStarted, NewExecution } from '../../../lib/contract/executions.ts';
import { Problem } from '../problem.ts';
import type { Stage } from './demo-client.ts';
import type { Receiver } from './demo-receiver.ts';

/** Every execution has come to its end by then: the service sees to that ten minutes after its start. */
const runsWithinSeconds = 720;
const arrivesWithinSeconds = 30;

const tasks = '/api/kanban-tasks';

/** What a story is told with; `say` tells whoever watches. */
type Telling = { stage: Stage; receiver: Receiver; secret: string; say: (sentence: string) => void };

/** Tells how an agent is hired, works on the board, and how a receiver hears of each step. */
export async function tellStory(telling: Telling): Promise<void> {
  const { stage, say } = telling;
  const agent = await hire(telling);
  await register(telling);

  const draft = await createTask(telling, { title: 'Write the release notes of 1.4', priority: 'high' });
  await stage.call('PATCH', `${tasks}/${draft}`, { assignedAgent: agent, status: 'assigned' });
  say(`It is assigned to ${agent}.`);
  const announcement = await createTask(telling, { title: 'Announce 1.4', assignedAgent: agent, dependsOn: [draft] });
  const start = { taskId: announcement, input: 'Write the announcement of 1.4 from its release notes.' };
  const refused = await stage.errorOf('POST', `/api/agents/${agent}/execute`, start);
  say(`It waits for the first, so to work on it now is refused: ${refused.status} ${refused.code}. ${refused.message}`);
  await heard(telling, 'task.status_changed', draft, 'assigned');
  await heard(telling, 'task.created', announcement, 'backlog');

  await execute(telling, agent, {
    taskId: draft,
    input: 'Write the release notes of version 1.4.',
    context: { changes: ['Agents can be executed', 'Two quality gates judge what they hand in'] },
  });
  await stage.call('PATCH', `${tasks}/${draft}`, { status: 'done' });
  say('\nA person has read it and moves the task to done.');
  await heard(telling, 'task.status_changed', draft, 'done');
  await heard(telling, 'task.completed', draft, 'done');

  say('\nThe second task waits for nothing any more.');
  await execute(telling, agent, start);
}

/** Creates an agent under a name that nobody has, and answers the name. */
async function hire({ stage: { call, made }, say }: Telling): Promise<string> {
  const name = `release-writer-${randomBytes(4).toString('hex')}`;
  await call('POST', '/api/agents', {
    name,
    displayName: 'Release writer',
    category: 'development',
    soul: 'You write plainly, and promise nothing that is not there.',
    systemPrompt: 'You write release notes for the users of a product, in at most ten lines.',
  });
  made(`/api/agents/${name}`);
  const skills = ['sk_release-notes', 'sk_research-brief'];
  for (const skillId of skills) await call('POST', `/api/agents/${name}/skills`, { skillId });
  say(`An agent is hired: ${name}, with a soul, a system prompt and the skills ${skills.join(' and ')}.`);
  return name;
}

async function register({ stage, receiver, secret, say }: Telling): Promise<void> {
  const { id } = await stage.call('POST', '/api/webhooks/register', { url: receiver.url, events: eventNames, secret });
  stage.made(`/api/webhooks/${id}`);
  say(`A webhook is registered: ${id} hears ${eventNames.join(', ')}.\n`);
}

/** Puts a task on the board, and answers its id. */
async function createTask({ stage, say }: Telling, task: object): Promise<string> {
  const { id, title } = await stage.call<{ id: string; title: string }>('POST', tasks, task);
  stage.made(`${tasks}/${id}`);
  say(`A task is on the board: ${id} “${title}”.`);
  return id;
}

/** Has the agent work on a task, waits for the end, and shows what has come of it. */
async function execute(telling: Telling, agent: string, start: NewExecution & { taskId: string }): Promise<void> {
  const { stage, say } = telling;
  const started = await stage.call<ExecutionStarted>('POST', `/api/agents/${agent}/execute`, start);
  const { executionId: id } = started;
  say(`\nAn execution is started, and answered at once: ${id} is ${started.status}.`);
  const { status, output, tokensUsed, durationMs, qualityGates, error } = await stage.waitFor(
    `The end of ${id}`,
    runsWithinSeconds,
    async () => {
      const execution = await stage.call<Execution>('GET', `/api/agents/${agent}/executions/${id}`);
      return execution.status !== 'running' && execution;
    },
  );
  if (status === 'failed') throw new Problem(`the execution failed. ${error}`);
  const task = await stage.call<{ status: string }>('GET', `${tasks}/${start.taskId}`);
  await heard(telling, 'agent.spawned', id, 'running');
  await heard(telling, 'task.status_changed', start.taskId, 'in_progress');
  await heard(telling, 'agent.completed', id, status);
  await heard(telling, 'task.status_changed', start.taskId, task.status);
  const { selfTest, qaReview } = qualityGates;
  say(`It is ${status} after ${durationMs} ms and ${tokensUsed} tokens:\n\n${indented(output ?? '')}\n`);
  say(`Its own test has ${selfTest}, the review has ${qaReview}: the task has arrived at ${task.status}.`);
}

/** Waits until the receiver was told of an event. */
async function heard(
  { stage, receiver }: Telling,
  event: Delivery['event'],
  id: string,
  status: string,
): Promise<void> {
  const look = () => receiver.hasHeard(event, id, status);
  await stage.waitFor(`The delivery of ${event} for ${id}`, arrivesWithinSeconds, look);
}

function indented(text: string): string {
  return text.replace(/^/gm, '   | ');
}
