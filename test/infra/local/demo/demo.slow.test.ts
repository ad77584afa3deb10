import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Deployment, newFolder, run, start, startDeployment, until } from '../../../journeys/deployment.ts';
import { createTask } from '../../../journeys/stories.ts';

/** Runs the demo where a service's data is, or is not. */
const demoOn = (dataFolder: string, environment: Record<string, string> = {}) =>
  run(['infra/local/demo.ts'], { CREWBOARD_DATA: dataFolder, ...environment });

/** All that a caller can list of a service. */
async function listed({ api }: Deployment): Promise<unknown[]> {
  const paths = ['/api/kanban-tasks', '/api/agents', '/api/agents/executions', '/api/webhooks'];
  return Promise.all(paths.map(async (path) => (await api<unknown>('GET', path)).body));
}

/** What the receiver was told, in an order of its own: several deliveries are on their way at once. */
function deliveriesIn(output: string): string[] {
  const lines = output.match(/⇠ .*/g) ?? [];
  return lines.map((line) => line.replace(/ +\w\w_[0-9A-Z]{26} /, ' ').replace(/^⇠ /, '')).sort();
}

const moved = (from: string, to: string) => `task.status_changed ${from} → ${to}   signature valid`;
const told = (event: string, status: string) => `${event} ${status}   signature valid`;
const ofEach = [
  told('task.created', 'backlog'),
  told('agent.spawned', 'running'),
  told('agent.completed', 'completed'),
  moved('in_progress', 'up_for_review'),
];
const ofFirst = [
  moved('backlog', 'assigned'),
  moved('assigned', 'in_progress'),
  moved('up_for_review', 'done'),
  told('task.completed', 'done'),
];
const whole = [...ofEach, ...ofEach, ...ofFirst, moved('backlog', 'in_progress')].sort();

it.concurrent('tells the whole story twice on a running service, and leaves it as it was', async () => {
  const service = await startDeployment();
  await createTask(service, 'Of somebody else');
  const before = await listed(service);
  for (const _ of ['once', 'again']) {
    const { code, stdout, stderr } = await demoOn(service.dataFolder);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`The service is at ${service.url},`);
    expect(stdout).toContain('to work on it now is refused: 409 task_blocked.');
    expect(stdout).toMatch(/ex_\w{26} is running\.\n/);
    expect(stdout).toMatch(
      /completed after \d+ ms and [1-9]\d* tokens:\n\n {3}\| This is Crewboard's built-in simulator/,
    );
    expect(stdout).toContain('Its own test has passed, the review has passed: the task has arrived at up_for_review.');
    expect(deliveriesIn(stdout)).toEqual(whole);
    expect(await listed(service)).toEqual(before);
  }
});

it.concurrent('starts a service of its own where none runs', async () => {
  const { code, stdout, stderr } = await demoOn(newFolder(), { PORT: '0' });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^No service is running here, so the demo starts one of its own\.\n/);
  expect(deliveriesIn(stdout)).toEqual(whole);
});

it.concurrent('says which gate did not pass, and goes on from where the task has arrived', async () => {
  const script = join(newFolder(), 'script.json');
  writeFileSync(script, '[{"match":"VERDICT:","text":"VERDICT: FAIL"}]');
  const { code, stdout } = await demoOn(newFolder(), { MODEL_SCRIPT: script });
  expect(code).toBe(0);
  expect(stdout).toContain('Its own test has failed, the review has failed: the task has arrived at qa_review.');
});

it.concurrent.each<[string, Record<string, string>, object[], RegExp]>([
  [
    'an agent alone',
    { ALLOWED_RECEIVERS: '' },
    [],
    /^The demo has ended: POST \/api\/webhooks\/register was refused: /,
  ],
  [
    'everything',
    {},
    [{ match: 'release notes', refusal: true }],
    /: the execution failed\. The model refused to do this\.$/,
  ],
])('deletes what it has made also when it fails with %s on the service', async (_, environment, rules, words) => {
  const script = join(newFolder(), 'script.json');
  writeFileSync(script, JSON.stringify(rules));
  const service = await startDeployment({ environment: { MODEL_SCRIPT: script, ...environment } });
  const before = await listed(service);
  const { code, stderr } = await demoOn(service.dataFolder);
  expect([code, stderr.trim()]).toEqual([1, expect.stringMatching(words)]);
  expect(await listed(service)).toEqual(before);
});

it.concurrent('deletes what it has made also when it is interrupted in the middle of a run', async () => {
  const service = await startDeployment({ environment: { MODEL_LATENCY_MS: '600000' } });
  const before = await listed(service);
  const demo = start(['infra/local/demo.ts'], { CREWBOARD_DATA: service.dataFolder });
  await until('an execution runs', () => / is running\.$/m.test(demo.output.stdout));
  demo.child.kill('SIGINT');
  const { code, stderr } = await demo.ended;
  expect([code, stderr]).toEqual([1, 'The demo has ended: it was interrupted.\n']);
  expect(await listed(service)).toEqual(before);
});
