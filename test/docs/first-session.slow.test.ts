import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { Agent, Execution, Task } from '../../lib/client/operations.ts';
import { dataOf } from '../api.ts';
import { startDeployment } from '../journeys/deployment.ts';
import { blocksOf, sectionOf } from './markdown.ts';

const page = readFileSync('docs/first-session.md', 'utf8');

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
  const [listed, moved, hired, worked, ...others] = lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  expect(others).toEqual([]);

  expect(listed).toMatchObject({ data: [{ title: 'Draw the landing page' }], pagination: { total: 1 } });
  expect(moved.data as Task).toMatchObject({ id: listed.data[0].id, status: 'done' });
  expect(hired.data as Agent).toMatchObject({ name: 'builder', displayName: 'Builder' });
  const gates = { selfTest: 'passed', qaReview: 'passed' };
  const execution = worked.data as Execution;
  expect(execution).toMatchObject({ status: 'completed', input: 'Build the landing page.', qualityGates: gates });
  expect(execution.output).toContain('simulator');
  const task = await service.api.getTask({ params: { id: execution.taskId as string } });
  expect(dataOf(task)).toMatchObject({ title: 'Build it', status: 'up_for_review', blockedBy: [] });
});
