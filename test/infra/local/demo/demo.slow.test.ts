import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dataOf } from '../../../api.ts';
import { type Deployment, newFolder, run, start, startDeployment, until } from '../../../journeys/deployment.ts';
import { createTask } from '../../../journeys/requests.ts';

/** Runs the demo with a data folder, on which a service may run. */
const demoOn = (dataFolder: string, environment: Record<string, string> = {}, args: string[] = []) =>
  run(['infra/local/demo/demo.ts', ...args], { CREWBOARD_DATA: dataFolder, ...environment });

async function listed({ api }: Deployment): Promise<unknown[]> {
  const lists = ['listTasks', 'listAgents', 'listExecutions', 'listWebhooks'] as const;
  return Promise.all(lists.map(async (list) => (await api[list]()).body));
}

/** Returns the printed deliveries, sorted, because concurrent deliveries arrive in any order. */
function deliveriesIn(output: string): string[] {
  const lines = output.match(/⇠ .*/g) ?? [];
  return lines.map((line) => line.replace(/ +\w\w_[0-9A-Z]{26} /, ' ').replace(/^⇠ /, '')).sort();
}

const moved = (from: string, to: string) => `task.status_changed ${from} → ${to}   signature valid`;
const event = (name: string, status: string) => `${name} ${status}   signature valid`;
const ofEach = [
  ...[event('task.created', 'backlog'), event('agent.spawned', 'running'), event('agent.completed', 'completed')],
  moved('in_progress', 'up_for_review'),
];
const ofFirst = [
  ...[moved('backlog', 'assigned'), moved('assigned', 'in_progress'), moved('up_for_review', 'done')],
  event('task.completed', 'done'),
];
const ofDone = [moved('up_for_review', 'done'), event('task.completed', 'done')];
/** Of the release and its two parts; the agent that splits it does the second part itself. */
const ofSplit = [
  ...[...ofEach, moved('backlog', 'in_progress'), ...ofDone],
  ...[...ofEach, moved('backlog', 'in_progress'), ...ofDone],
  ...[event('task.created', 'backlog'), moved('backlog', 'qa_review'), moved('qa_review', 'done')],
  event('task.completed', 'done'),
];
const allDeliveries = [...ofEach, ...ofEach, ...ofFirst, moved('backlog', 'in_progress'), ...ofSplit].sort();

it.concurrent('runs twice on a running service, and deletes everything that it created', async () => {
  const service = await startDeployment();
  await createTask(service, 'A task of another user');
  const before = await listed(service);
  for (const _ of ['once', 'again']) {
    const { code, stdout, stderr } = await demoOn(service.dataFolder);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`The service is at ${service.url}.`);
    expect(stdout).toContain('its execution is rejected: 409 task_blocked.');
    expect(stdout).toMatch(/ex_\w{26} is running\.\n/);
    expect(stdout).toMatch(/completed after \d+ ms and [1-9]\d* tokens:\n\n {3}\| I have worked on .* \(simulated\)\n/);
    expect(stdout).toContain('Its self-test has passed, its QA review has passed. The task is now in up_for_review.');
    expect(stdout).toMatch(
      /\n {3}4 tool create_task .*\n {3}5 tool create_task .*\n {3}6 model .*\n {3}7 tool delegate_task /,
    );
    expect(stdout).toMatch(/moves “Check the links of 1.5” of release-lead-\w+ from qa_review to done\./);
    expect(deliveriesIn(stdout)).toEqual(allDeliveries);
    expect(await listed(service)).toEqual(before);
  }
});

it.concurrent('starts its own service if none is running, and prints the result of failed quality gates', async () => {
  const script = join(newFolder(), 'script.json');
  writeFileSync(script, '[{"match":"VERDICT:","text":"VERDICT: FAIL"}]');
  const { code, stdout, stderr } = await demoOn(newFolder(), { PORT: '0', MODEL_SCRIPT: script });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^No service is running here, so the demo starts its own\.\n/);
  expect(stdout).toContain('Its self-test has failed, its QA review has failed. The task is now in qa_review.');
});

const states = ['delivered', 'pending', 'retrying', 'skipped'];
it.concurrent.each<[string, Record<string, string>, string[], RegExp]>([
  ['each state', { RETRY_LADDER: '2,3,4' }, [...states, 'exhausted'].sort(), /are: .*1 exhausted.*\.\n/],
  ['each state but one', {}, states, /None is exhausted, .* RETRY_LADDER=2,3,4 npm start\./],
])('leaves its data with --keep, and a paused webhook with deliveries in %s', async (_, environment, left, words) => {
  const service = await startDeployment({ environment });
  const { code, stdout, stderr } = await demoOn(service.dataFolder, {}, ['--keep']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain(`To look at them, open ${service.url}.`);
  expect(stdout).toMatch(words);
  const [tasks, , executions, webhooks] = (await listed(service)) as { data: { id: string; active: boolean }[] }[];
  expect([tasks, executions].map((list) => list?.data.length)).toEqual([6, 4]);
  expect(webhooks?.data).toMatchObject([{ active: false, description: 'Demo: a receiver that fails' }]);
  const params = { id: webhooks?.data[0]?.id as string };
  const events = dataOf<{ state: string }[]>(await service.api.listWebhookEvents({ params, query: 'limit=100' }));
  expect([...new Set(events.map(({ state }) => state))].sort()).toEqual(left);
});

it.concurrent.each([
  [['--keep'], /--keep needs a running service; start one with npm start/],
  [['--kep'], /Usage: npm run demo -- \[--keep\]/],
])('fails with the arguments %j if no service runs, and creates nothing', async (args, words) => {
  const { code, stderr } = await demoOn(newFolder(), {}, args);
  expect([code, stderr]).toEqual([1, expect.stringMatching(words)]);
});

const declined = [{ match: 'release notes', refusal: true }];
it.concurrent.each<[string, Record<string, string>, object[], RegExp]>([
  ['an agent only', { ALLOWED_RECEIVERS: '' }, [], /^The demo has failed: POST \/api\/webhooks\/register failed: /],
  ['all resources', {}, declined, /: the execution failed\. The model refused to do this\.$/],
])('deletes its resources also if it fails after it created %s', async (_, environment, rules, words) => {
  const script = join(newFolder(), 'script.json');
  writeFileSync(script, JSON.stringify(rules));
  const service = await startDeployment({ environment: { MODEL_SCRIPT: script, ...environment } });
  const before = await listed(service);
  const { code, stderr } = await demoOn(service.dataFolder);
  expect([code, stderr.trim()]).toEqual([1, expect.stringMatching(words)]);
  expect(await listed(service)).toEqual(before);
});

it.concurrent('deletes its resources also if it is interrupted during an execution', async () => {
  const service = await startDeployment({ environment: { MODEL_LATENCY_MS: '600000' } });
  const before = await listed(service);
  const demo = start(['infra/local/demo/demo.ts'], { CREWBOARD_DATA: service.dataFolder });
  await until('an execution runs', () => / is running\.$/m.test(demo.output.stdout));
  demo.child.kill('SIGINT');
  const { code, stderr } = await demo.ended;
  expect([code, stderr]).toEqual([1, 'The demo has failed: it was interrupted.\n']);
  expect(await listed(service)).toEqual(before);
});
