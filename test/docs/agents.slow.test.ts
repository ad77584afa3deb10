import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startDeployment } from '../journeys/deployment.ts';
import { newScript } from '../journeys/requests.ts';
import { example } from './agents-page.ts';

/** Returns a response without ids, times and durations. */
function withoutVariables(answer: string): unknown {
  const text = answer
    .replaceAll(/ex_\w{26}/g, 'ex_1')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then')
    .replaceAll(/"durationMs":\d+/g, '"durationMs":1');
  return JSON.parse(text);
}

it('the example of the page on agents gets the responses on the page', async () => {
  const environment = { MODEL_SCRIPT: newScript(JSON.parse(example.script)) };
  const service = await startDeployment({ environment });
  // Instead of sleeping, the script waits until the execution has ended.
  const sleep = `sleep() { until curl -s $URL/api/agents/reporter/executions/$RUN -H "Authorization: Bearer $TOKEN" |
    grep -q '"completedAt"'; do command sleep 0.05; done; }`;
  const commands = example.commands.map((command) =>
    command.replace('.crewboard/token', `${service.dataFolder}/token`).replace('http://127.0.0.1:3000', service.url),
  );
  const script = ['set -e', sleep, ...commands.map((command) => `${command}\necho`)].join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { timeout: 50_000 });
  expect(stdout.trim().split('\n').map(withoutVariables)).toEqual(example.answers.map(withoutVariables));
}, 60_000);
