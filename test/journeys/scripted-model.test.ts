import { expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';
import { createAgent, endings, endOf, execute, newScript, toldOf } from './executions.ts';
import { startReceiver } from './receiver.ts';
import { createTask, register } from './stories.ts';

/** The first that is for a question decides, and a gate is asked all that the work was asked. */
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

/** Runs an execution about a task of its own to its end, and answers the two and what was told of them. */
async function play(name: string, input: string) {
  const taskId = await createTask(service, 'A task');
  const id = await execute(service, name, input, { taskId });
  const execution = await endOf(service, name, id);
  const task = await service.api('GET', `/api/kanban-tasks/${taskId}`);
  await receiver.once(`the end of ${id}`, () => toldOf(receiver, id).length >= 2);
  return { id, execution, status: task.body.data.status, told: toldOf(receiver, id).sort() };
}

it.concurrent.each([
  ['at rush hour', 'At last.'],
  ['in the fog', 'Through.'],
])('completes work %s, as soon as the model can be heard', async (words, output) => {
  const { execution, status, told } = await play(agent, `Work ${words}`);
  expect(execution).toMatchObject({ status: 'completed', output });
  expect(execution).not.toHaveProperty('error');
  // Beside what the script says of the work there is what the two gates cost.
  expect(execution.tokensUsed).toBeGreaterThan(70);
  expect([status, told]).toEqual(['up_for_review', ['agent.completed', 'agent.spawned']]);
});

it.concurrent.each([
  ['without access', 'This deployment has no access to the model.'],
  ['with a broken model', 'The model could not be reached, or had a fault.'],
  ['of no good', 'The model refused to do this.'],
  ['in riddles only', 'The answer of the model could not be read.'],
  ['with a shrug', 'The answer of the model was empty.'],
  ['for ever', 'The answer of the model was longer than it may be.'],
])('fails work %s in so many words, and gives the task back', async (words, error) => {
  const { id, execution, status, told } = await play(agent, `Work ${words}`);
  expect(execution).toMatchObject({ status: 'failed', error, tokensUsed: expect.any(Number) });
  expect(execution).not.toHaveProperty('output');
  expect(execution.qualityGates).toEqual({ selfTest: 'skipped', qaReview: 'skipped' });
  expect([status, told]).toEqual(['assigned', ['agent.failed', 'agent.spawned']]);
  const failed = receiver.received.find(
    ({ body: { event, data } }) => event === 'agent.failed' && data.execution.id === id,
  );
  const { completedAt, tokensUsed } = execution;
  expect(failed?.body.data).toMatchObject({
    execution: { id, status: 'failed', error, tokensUsed },
    occurredAt: completedAt,
  });
});

it.concurrent('fails the work of a model that is not known, and names nobody’s account', async () => {
  const { execution, status } = await play('misled', 'Work');
  const error = 'There is no such model, or it cannot be used from here.';
  expect([execution.status, execution.error, status]).toEqual(['failed', error, 'assigned']);
});

it.concurrent.each([
  ['a bad job', 'failed'],
  ['a riddle', 'skipped'],
])('hands %s on for another look: both gates say %s', async (words, verdict) => {
  const { execution, status, told } = await play(agent, `Do ${words}`);
  expect(execution).toMatchObject({ status: 'completed', qualityGates: { selfTest: verdict, qaReview: verdict } });
  expect([status, told]).toEqual(['qa_review', ['agent.completed', 'agent.spawned']]);
});
