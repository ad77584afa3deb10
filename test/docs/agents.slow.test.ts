import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type Deployment, startDeployment } from '../journeys/deployment.ts';
import { newScript } from '../journeys/requests.ts';
import { blocksOf, sectionOf } from './markdown.ts';

const page = readFileSync('docs/agents.md', 'utf8');

/** Runs the commands of an example, whose executions are of an agent. Returns what they print, and what the page has. */
async function runExample(heading: string, agent: string) {
  const section = sectionOf(page, heading);
  const [rules = '', ...answers] = blocksOf(section, 'json');
  const service = await startDeployment({ environment: { MODEL_SCRIPT: newScript(JSON.parse(rules)) } });
  // Instead of sleeping, the script waits until the execution has ended.
  const sleep = `sleep() { until curl -s $URL/api/agents/${agent}/executions/$RUN -H "Authorization: Bearer $TOKEN" |
    grep -q '"completedAt"'; do command sleep 0.05; done; }`;
  const commands = blocksOf(section, 'sh').map((command) =>
    command.replace('.crewboard/token', `${service.dataFolder}/token`).replace('http://127.0.0.1:3000', service.url),
  );
  const script = ['set -e', sleep, ...commands.map((command) => `${command}\necho`)].join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { timeout: 50_000 });
  const printed = stdout.trim().split('\n').map(withoutVariables);
  return { section, service, printed, documented: answers.map(withoutVariables) };
}

/** Returns a response without ids, times, durations and tokens, which depend on the words of tools. */
function withoutVariables(answer: string): unknown {
  const text = answer
    .replaceAll(/(ex|tk)_\w{26}/g, '$1_1')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then')
    .replaceAll(/"(durationMs|tokensUsed)":\d+/g, '"$1":1');
  return JSON.parse(text);
}

/** Returns the rows of a table whose header begins with a word, cut to its first columns. */
function rowsOf(section: string, header: string, columns: number): string[][] {
  const [, , ...rows] =
    section
      .slice(section.indexOf(`| ${header} |`))
      .split('\n\n')[0]
      ?.split('\n') ?? [];
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, 1 + columns)
      .map((text) => text.replaceAll('`', '').trim()),
  );
}

/** Returns the data of a list. */
async function listed<Item>({ url, token }: Deployment, path: string): Promise<Item[]> {
  const response = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } });
  return ((await response.json()) as { data: Item[] }).data;
}

it('the example of self-improvement gets the responses on the page', async () => {
  const { printed, documented } = await runExample('### An example', 'reporter');
  expect(printed).toEqual(documented);
}, 60_000);

it('the agent that splits its work has the response, the steps and the tasks on the page', async () => {
  const { section, service, printed, documented } = await runExample('## An agent that splits its work', 'lead');
  expect(printed).toEqual(documented);
  const [execution] = await listed<{ id: string }>(service, '/api/agents/lead/executions');
  type Step = { number: number; kind: string; name: string };
  const steps = await listed<Step>(service, `/api/agents/lead/executions/${execution?.id}/steps`);
  expect(steps.map(({ number, kind, name }) => [String(number), kind, name])).toEqual(rowsOf(section, 'Step', 3));
  const tasks = async () => {
    const found = await listed<{ title: string; assignedAgent: string; status: string }>(service, '/api/kanban-tasks');
    return found.map(({ title, assignedAgent, status }) => [title, assignedAgent, status]).toSorted();
  };
  await expect.poll(tasks).toEqual(rowsOf(section, 'Task', 3).toSorted());
}, 60_000);
