// Creates two tasks and an agent, and runs the agent, with the typed client. Start the local service first, then:
//
//   npx node docs/examples/typescript.ts
//
// For your own project, also copy lib/client/client.ts and lib/client/operations.ts, and change the import below.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CrewboardError, createClient, everyItem, waitForExecution } from '../../lib/client/client.ts';

const crewboard = createClient({
  url: process.env.CREWBOARD_URL ?? 'http://127.0.0.1:3000',
  token: process.env.CREWBOARD_TOKEN ?? readFileSync('.crewboard/token', 'utf8').trim(),
});

// Create two tasks. The second depends on the first.
const { data: design } = await crewboard.createTask({ body: { title: 'Draw the landing page' } });
const newTask = { title: 'Build it', dependsOn: [design.id] };

// The client sends an Idempotency-Key with each POST, so its retries create nothing twice. If your program itself may
// restart, store a key of your own with the work: with the same key, a POST is carried out once.
const idempotencyKey = randomUUID();
const { data: build } = await crewboard.createTask({ body: newTask, idempotencyKey });
const again = await crewboard.createTask({ body: newTask, idempotencyKey });
console.log(`created ${design.id} and ${build.id}; repeated: ${again.data.id === build.id && again.replayed}`);

// Create an agent. It may already exist: error responses are thrown, and their code says which error it is.
try {
  const body = { name: 'builder', displayName: 'Builder', category: 'development' } as const;
  await crewboard.createAgent({ body: { ...body, systemPrompt: 'You build web pages.' } });
  console.log('created builder');
} catch (error) {
  if (!(error instanceof CrewboardError && error.code === 'name_taken')) throw error;
  console.log('builder already exists');
}

// The task is blocked. `details` names each task that blocks it.
const params = { name: 'builder' };
const order = { params, body: { input: 'Build the landing page.', taskId: build.id } };
try {
  await crewboard.executeAgent(order);
} catch (error) {
  if (!(error instanceof CrewboardError && error.code === 'task_blocked')) throw error;
  console.log(`rejected: ${error.status} ${error.code}`);
  for (const { path, message } of error.details) console.log(`  ${path}: ${message}`);
}

// Change the first task only if its version is still the version that was read. A second change with it is rejected.
const { etag } = await crewboard.getTask({ params: { id: design.id } });
const done = { params: { id: design.id }, body: { status: 'done' }, ifMatch: etag } as const;
const { data: finished } = await crewboard.updateTask(done);
console.log(`${finished.id} is ${finished.status}`);
try {
  await crewboard.updateTask({ ...done, body: { status: 'backlog' } });
} catch (error) {
  if (!(error instanceof CrewboardError && error.code === 'precondition_failed')) throw error;
  console.log(`rejected: ${error.status} ${error.code}; read the task again, then decide again`);
}

// The task is no longer blocked. The response does not wait for the execution, so wait for its end, at most a minute. To
// be notified instead, register a webhook for agent.completed and agent.failed.
const { data: started } = await crewboard.executeAgent(order);
const execution = await waitForExecution(crewboard, { ...params, id: started.executionId, timeoutMs: 60_000 });
console.log(`${execution.id} is ${execution.status}: ${execution.output ?? execution.error}`);

// List the tasks of builder that a person must review, from all pages.
const query = { status: 'up_for_review', assigned_agent: 'builder' } as const;
for await (const task of everyItem(crewboard.listTasks, { query })) console.log(`to review: ${task.id} ${task.title}`);
