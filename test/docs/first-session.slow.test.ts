import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { Agent, Execution, ExecutionListItem, Task } from '../../lib/client/operations.ts';
import type { ExecutionStep } from '../../lib/contract/executions/steps.ts';
import { dataOf } from '../api.ts';
import { startDeployment } from '../journeys/deployment.ts';
import { endOf } from '../journeys/requests.ts';
import { blocksOf, sectionOf } from './markdown.ts';

const page = readFileSync('docs/first-session.md', 'utf8');
const qualityGates = { selfTest: 'passed', qaReview: 'passed' };
/** The steps of the agent with tools, by their names. */
const steps = [
  ...[
    'simulator',
    'list_tasks',
    'simulator',
    'create_task',
    'create_task',
    'simulator',
    'delegate_task',
    'update_task',
  ],
  ...['simulator', 'selfTest', 'qaReview'],
];

it('the commands of the first session work as written', async () => {
  const service = await startDeployment();
  const [block = ''] = blocksOf(sectionOf(page, '## A board and an agent'), 'sh');
  const commands = block
    .replace('.crewboard/token', `${service.dataFolder}/token`)
    .replace('http://127.0.0.1:3000', service.url);
  expect(commands).toContain(service.url);
  // Each response is on its own line. Instead of sleeping, the script waits until the execution has ended.
  const script = `set -e
    curl() { command curl "$@"; echo; }
    sleep() { until curl -s $URL/api/agents/builder/executions/$RUN -H "Authorization: Bearer $TOKEN" |
      grep -q '"completedAt"'; do command sleep 0.05; done; }
    ${commands}`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', script], { timeout: 18_000 });
  expect(stderr).toBe('');
  const lines = stdout.split('\n').map((line) => line.trim());
  expect(lines).toContain('HTTP/1.1 200 OK');
  expect(lines).toContainEqual(expect.stringMatching(/^ETag: ".+"$/));
  const [listed, moved, hired, second, worked, stepped, ...others] = lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  expect(others).toEqual([]);

  expect(listed).toMatchObject({ data: [{ title: 'Draw the landing page' }], pagination: { total: 1 } });
  expect(moved.data as Task).toMatchObject({ id: listed.data[0].id, status: 'done' });
  expect(hired.data as Agent).toMatchObject({ name: 'builder', displayName: 'Builder' });
  expect(second.data as Agent).toMatchObject({ name: 'writer', displayName: 'Writer' });
  const execution = worked.data as Execution;
  expect(execution).toMatchObject({ status: 'completed', qualityGates });
  expect(execution.output).toMatch(/^The work has 2 parts\. writer works on .* \(simulated\)$/);
  expect(stepped.data.map(({ name }: { name: string }) => name)).toEqual(steps);
  const task = await service.api.getTask({ params: { id: execution.taskId as string } });
  expect(dataOf(task)).toMatchObject({ title: 'Build it', status: 'up_for_review', blockedBy: [] });
});

it('the first commands of npm start run an agent that splits its task, delegates and passes its gates', async () => {
  const service = await startDeployment();
  const commands = service.output().match(/^ {2}post\(\)[\s\S]*?(?=^\S)/m)?.[0] ?? '';
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', commands], { timeout: 18_000 });
  expect(stderr).toBe('');
  const started = JSON.parse(stdout.trim().split('\n').at(-1) as string);
  const execution = await endOf(service, 'lead', started.data.executionId);
  expect(execution).toMatchObject({ status: 'completed', qualityGates });
  const taken = dataOf<ExecutionStep[]>(await service.api.listSteps({ params: { name: 'lead', id: execution.id } }));
  expect(taken.map(({ name }) => name)).toEqual(steps);
  const [delegated] = dataOf<ExecutionListItem[]>(
    await service.api.listAgentExecutions({ params: { name: 'writer' } }),
  );
  expect(delegated).toMatchObject({ startedBy: { kind: 'delegation' } });
});
