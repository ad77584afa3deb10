// A story of two tasks and an agent, told with the typed client. Beside the local service:
//
//   npx node docs/examples/typescript.ts
//
// For a project of your own copy lib/client/client.ts and lib/client/operations.ts too, and change the import below.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { CrewboardError, everyItem, openClient } from '../../lib/client/client.ts';

const crewboard = openClient({
  url: process.env.CREWBOARD_URL ?? 'http://127.0.0.1:3000',
  token: process.env.CREWBOARD_TOKEN ?? readFileSync('.crewboard/token', 'utf8').trim(),
});

// Two tasks, of which one waits for the other.
const { data: design } = await crewboard.createTask({ body: { title: 'Draw the landing page' } });
const newTask = { title: 'Build it', dependsOn: [design.id] };

// The client makes an Idempotency-Key for each POST, so that its own retries put nothing on the board twice. To be as
// safe when your program itself starts over, keep a key of your own with the work: the same key is answered once.
const idempotencyKey = randomUUID();
const { data: build } = await crewboard.createTask({ body: newTask, idempotencyKey });
const again = await crewboard.createTask({ body: newTask, idempotencyKey });
console.log(`created ${design.id} and ${build.id}; repeated: ${again.data.id === build.id && again.replayed}`);

// Hire an agent. What is refused is thrown, and its code says what it is: here one of that name may be there already.
try {
  const body = { name: 'builder', displayName: 'Builder', category: 'development' } as const;
  await crewboard.createAgent({ body: { ...body, systemPrompt: 'You build web pages.' } });
  console.log('hired builder');
} catch (error) {
  if (!(error instanceof CrewboardError && error.code === 'name_taken')) throw error;
  console.log('builder is here already');
}

// It cannot begin yet: the details name each task that is in the way.
const params = { name: 'builder' };
const order = { params, body: { input: 'Build the landing page.', taskId: build.id } };
try {
  await crewboard.executeAgent(order);
} catch (error) {
  if (!(error instanceof CrewboardError && error.code === 'task_blocked')) throw error;
  console.log(`refused: ${error.status} ${error.code}`);
  for (const { path, message } of error.details) console.log(`  ${path}: ${message}`);
}

// Change the first task, but only as it was read. Once it is changed the version that we read is out of date.
const { etag } = await crewboard.getTask({ params: { id: design.id } });
const done = { params: { id: design.id }, body: { status: 'done' }, ifMatch: etag } as const;
const { data: finished } = await crewboard.updateTask(done);
console.log(`${finished.id} is ${finished.status}`);
try {
  await crewboard.updateTask({ ...done, body: { status: 'backlog' } });
} catch (error) {
  if (!(error instanceof CrewboardError && error.code === 'precondition_failed')) throw error;
  console.log(`refused: ${error.status} ${error.code}; read it again, then decide again`);
}

// Now it can. The answer comes at once; the end is waited for, a minute at most.
const { data: started } = await crewboard.executeAgent(order);
const execution = await endOf(started.executionId, Date.now() + 60_000);
console.log(`${execution.id} has ${execution.status}: ${execution.output ?? execution.error}`);

// All that builder has handed in and a person has to look at, however many pages it fills.
const query = { status: 'up_for_review', assigned_agent: 'builder' } as const;
for await (const task of everyItem(crewboard.listTasks, { query })) console.log(`to review: ${task.id} ${task.title}`);

/** An execution once it has ended. A webhook for agent.completed and agent.failed tells the same without asking. */
async function endOf(id: string, deadline: number) {
  for (let waitMs = 250; Date.now() < deadline; waitMs = Math.min(waitMs * 2, 5000)) {
    const { data } = await crewboard.getExecution({ params: { ...params, id } });
    if (data.status !== 'running') return data;
    await pause(waitMs);
  }
  throw new Error(`${id} still runs.`);
}
