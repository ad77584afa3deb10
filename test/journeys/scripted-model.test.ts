import { expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';
import { startReceiver } from './receiver.ts';
import {
  createAgent,
  createTask,
  endings,
  endOf,
  eventsAbout,
  execute,
  newScript,
  readTask,
  register,
} from './requests.ts';

/** The first rule that matches answers. The question of a gate contains that of the work. */
const rules = [
  { match: '/a bad job[^]*VERDICT:/', text: 'It is not what was asked for.\nVERDICT: FAIL' },
  { match: '/a riddle[^]*VERDICT:/', text: 'Who knows?' },
  { match: 'VERDICT:', text: 'VERDICT: PASS' },
  { match: 'at rush hour', times: 2, throttle: true },
  { match: 'at rush hour', text: 'At last.', tokens: 70 },
  { match: 'in the fog', times: 2, malformed: true },
  { match: 'in the fog', text: 'Through.', tokens: 70 },
  { match: 'without access', error: 'AccessDeniedException' },
  { match: 'with a broken model', error: 'ModelErrorException' },
  { match: 'of no good', refusal: true },
  { match: 'in riddles only', malformed: true },
  { match: 'with a shrug', text: ' \n' },
  { match: 'for ever', stopReason: 'max_tokens' },
];
const service = await startDeployment({ environment: { MODEL_SCRIPT: newScript(rules) } });
const receiver = await startReceiver();
await register(service, { url: receiver.url, events: ['agent.spawned', ...endings] });
const agent = await createAgent(service, 'scripted');
await createAgent(service, 'misled', { model: 'arn:aws:bedrock:eu-west-1:123456789012:inference-profile/none' });

/** Runs an execution on a new task to its end, and returns both and the events of the execution. */
async function executed(name: string, input: string) {
  const taskId = await createTask(service, 'A task');
  const id = await execute(service, name, input, { taskId });
  const execution = await endOf(service, name, id);
  await receiver.once(`the end of ${id}`, () => eventsAbout(receiver, id).length >= 2);
  return { id, execution, status: (await readTask(service, taskId)).status, events: eventsAbout(receiver, id) };
}

it.concurrent.each([
  ['at rush hour', 'At last.'],
  ['in the fog', 'Through.'],
])('completes work %s once the model answers', async (words, output) => {
  const { execution, status, events } = await executed(agent, `Work ${words}`);
  expect(execution).toMatchObject({ status: 'completed', output });
  expect(execution).not.toHaveProperty('error');
  // The 70 tokens of the script's rule, and those of the two gates.
  expect(execution.tokensUsed).toBeGreaterThan(70);
  expect([status, events]).toEqual(['up_for_review', ['agent.completed', 'agent.spawned']]);
});

it.concurrent.each([
  ['without access', 'This deployment has no access to the model.'],
  ['with a broken model', 'The model could not be reached, or had a fault.'],
  ['of no good', 'The model refused to do this.'],
  ['in riddles only', 'The answer of the model could not be read.'],
  ['with a shrug', 'The answer of the model was empty.'],
  ['for ever', 'The answer of the model was longer than it may be.'],
])('fails work %s with an error that says so, and assigns the task again', async (words, error) => {
  const { id, execution, status, events } = await executed(agent, `Work ${words}`);
  expect(execution).toMatchObject({ status: 'failed', error, tokensUsed: expect.any(Number) });
  expect(execution).not.toHaveProperty('output');
  expect(execution.qualityGates).toEqual({ selfTest: 'skipped', qaReview: 'skipped' });
  expect([status, events]).toEqual(['assigned', ['agent.failed', 'agent.spawned']]);
  const failed = receiver.received.find(
    ({ body: { event, data } }) => event === 'agent.failed' && data.execution.id === id,
  );
  const { completedAt, tokensUsed } = execution;
  expect(failed?.body.data).toMatchObject({
    execution: { id, status: 'failed', error, tokensUsed },
    occurredAt: completedAt,
  });
});

it.concurrent('fails the work of an unknown model, with an error that names no account', async () => {
  const { execution, status } = await executed('misled', 'Work');
  const error = 'There is no such model, or it cannot be used from here.';
  expect([execution.status, execution.error, status]).toEqual(['failed', error, 'assigned']);
});

it.concurrent.each([
  ['a bad job', 'failed'],
  ['a riddle', 'skipped'],
])('moves the task of %s to qa_review: both gates are %s', async (words, verdict) => {
  const { execution, status, events } = await executed(agent, `Do ${words}`);
  expect(execution).toMatchObject({ status: 'completed', qualityGates: { selfTest: verdict, qaReview: verdict } });
  expect([status, events]).toEqual(['qa_review', ['agent.completed', 'agent.spawned']]);
});
