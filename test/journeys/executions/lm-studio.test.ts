import { expect, it } from 'vitest';
import { dataOf } from '../../api.ts';
import { startDeployment } from '../deployment.ts';
import { createAgent, endOf, execute } from '../requests.ts';
import { startLmStudio } from './lm-studio.ts';

const server = await startLmStudio();
const service = await startDeployment({ environment: { MODEL_BASE_URL: `${server.url}/v1` } });

it('the output at the start names the first model of LM Studio that is not for search', () => {
  expect(service.output()).toContain(`Agents use qwen/qwen3-8b at ${server.url}/v1`);
});

it('an agent with tools whose model is in LM Studio runs to its end', async () => {
  const capabilities = ['tasks.read', 'tasks.write', 'delegate', 'skills'];
  const name = await createAgent(service, 'worker', { capabilities });
  const id = await execute(service, name, 'List the tasks.');
  const execution = await endOf(service, name, id);
  expect(execution).toMatchObject({ status: 'completed', output: 'Work.', tokensUsed: 48 });
  expect(execution.qualityGates).toEqual({ selfTest: 'passed', qaReview: 'passed' });
  const steps = dataOf(await service.api.listSteps({ params: { name, id } })) as { name: string }[];
  expect(steps.map((step) => step.name)).toContain('list_tasks');
});

it.each([
  ['a model that LM Studio does not have', 'unknown', { model: 'gpt-4o' }, 'Go.', 'There is no such model'],
  ['a model for search', 'search', { model: 'text-embedding-nomic-embed-text-v1.5' }, 'Go.', 'There is no such model'],
  ['an input beyond its context', 'long', {}, 'word '.repeat(15_000), 'The input is too long for the model'],
])('an execution with %s fails at once, and says why', async (_, agent, fields, input, reason) => {
  const name = await createAgent(service, agent, fields);
  const execution = await endOf(service, name, await execute(service, name, input));
  expect(execution).toMatchObject({ status: 'failed', error: expect.stringContaining(reason) });
});

it('a base URL without /v1 is named at the start', async () => {
  const other = await startDeployment({ environment: { MODEL_BASE_URL: server.url, MODEL_NAME: 'qwen/qwen3-8b' } });
  expect(other.output()).toContain('which usually ends with /v1');
});
