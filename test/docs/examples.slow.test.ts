import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ExecutionListItem, Task } from '../../lib/client/operations.ts';
import { type Ended, newFolder, startDeployment } from '../journeys/deployment.ts';
import { createAgent, endOf, execute } from '../journeys/executions.ts';
import { createTask, moveTask, newToken, register } from '../journeys/stories.ts';
import { secret } from './posted.ts';
import { type Started, startReceiver } from './receiver-program.ts';

type Story = { name: string; command: string[]; probe?: string[] };

const python = 'import sys; sys.exit(sys.version_info < (3, 10))';
const stories: Story[] = [
  { name: 'curl', command: ['bash', 'docs/examples/curl.sh'] },
  { name: 'typescript', command: [process.execPath, 'docs/examples/typescript.ts'] },
  // Isolated and without site packages: the standard library is all there is.
  {
    name: 'python',
    command: ['python3', '-I', '-S', 'docs/examples/python.py'],
    probe: ['python3', '-c', python],
  },
];

const service = await startDeployment();
const { api } = service;

/** Runs an example in a folder of its own, which has a token in the place where the local service keeps it, or none. */
function tell({ command: [program = '', ...args] }: Story, given: { kept?: string; token?: string }) {
  const cwd = newFolder();
  mkdirSync(join(cwd, '.crewboard'));
  if (given.kept) writeFileSync(join(cwd, '.crewboard/token'), `${given.kept}\n`);
  const { PATH = '', HOME = '' } = process.env;
  const environment = { PATH, HOME, CREWBOARD_URL: service.url };
  const env = given.token ? { ...environment, CREWBOARD_TOKEN: given.token } : environment;
  const file = resolve(args.pop() as string);
  return new Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>>((done) => {
    const child = execFile(program, [...args, file], { cwd, env, timeout: 60_000 }, (_, stdout, stderr) =>
      done({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** What an example prints, with the ids that are new in each run told by their order. */
function told(stdout: string): string[] {
  const ids: string[] = [];
  const named = stdout.replaceAll(/\b(tk|ex)_\w{26}/g, (id, kind) => {
    if (!ids.includes(id)) ids.push(id);
    return `${kind}-${ids.indexOf(id) + 1}`;
  });
  return named.trimEnd().split('\n');
}

const output = `This is Crewboard's built-in simulator and not a model; nothing has been done.`;

describe.each(stories)('the story in $name', (story) => {
  const { probe: [program = '', ...args] = ['true'] } = story;
  const missing = spawnSync(program, args).status === 0 ? undefined : `${story.name} is not on this machine.`;
  if (missing) console.warn(missing);

  it('is told on an empty board as it is written', async ({ skip }) => {
    if (missing) skip(missing);
    const token = await newToken(service, `${story.name}-once`);
    const { code, stdout, stderr } = await tell(story, { kept: token });
    expect([code, stderr]).toEqual([0, '']);
    const lines = told(stdout);
    expect([lines[0]?.toLowerCase(), ...lines.slice(1, 3)]).toEqual([
      'created tk-1 and tk-2; repeated: true',
      'hired builder',
      'refused: 409 task_blocked',
    ]);
    expect(lines[3]).toMatch(/^ {2}.*blockedBy\.0.*tk-1 is backlog\./);
    expect(lines.slice(4, 6)).toEqual([
      'tk-1 is done',
      'refused: 412 precondition_failed; read it again, then decide again',
    ]);
    expect(lines[6]).toMatch(/^ex-3 has completed: /);
    expect(lines[6]).toContain(output);
    expect(lines.slice(7)).toEqual(['to review: tk-2 Build it']);

    const { body } = await api<Task[]>('GET', '/api/kanban-tasks', { token });
    const [build, design, ...others] = body.data;
    expect(others).toEqual([]);
    expect(build).toMatchObject({ title: 'Build it', status: 'up_for_review', dependsOn: [design?.id] });
    expect(build?.assignedAgent).toBe('builder');
    expect(design).toMatchObject({ title: 'Draw the landing page', status: 'done' });
    const runs = await api<ExecutionListItem[]>('GET', '/api/agents/executions', { token });
    expect(runs.body.data).toMatchObject([{ agentName: 'builder', taskId: build?.id, status: 'completed' }]);
  });

  it('is told again where builder and more than a page of its tasks are there', async ({ skip }) => {
    if (missing) skip(missing);
    const token = await newToken(service, `${story.name}-again`);
    const agent = { name: 'builder', displayName: 'Builder', category: 'development' };
    await api('POST', '/api/agents', { body: agent, token });
    const waiting = { title: 'Waits', status: 'up_for_review', assignedAgent: 'builder' };
    const more = Array.from({ length: 120 }, () => api('POST', '/api/kanban-tasks', { body: waiting, token }));
    expect(new Set((await Promise.all(more)).map(({ status }) => status))).toEqual(new Set([201]));
    await api('POST', '/api/kanban-tasks', { body: { ...waiting, status: 'done' }, token });

    const { code, stdout, stderr } = await tell(story, { token });
    expect([code, stderr]).toEqual([0, '']);
    const lines = told(stdout);
    expect(lines[1]).toBe('builder is here already');
    const listed = lines.filter((line) => line.startsWith('to review: '));
    expect(listed[0]).toBe('to review: tk-2 Build it');
    expect(new Set(listed).size).toBe(121);
    expect(listed).toHaveLength(121);
  });

  it('ends with what the service says to a token that it does not know', async ({ skip }) => {
    if (missing) skip(missing);
    const { code, stdout, stderr } = await tell(story, { token: 'crew_nobody' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/Authorization: Bearer/);
  });
});

describe('the receiver with Express', () => {
  let receiver: Started;
  // Not while tests are collected: one that is left out would never stop it.
  beforeAll(() => {
    receiver = startReceiver([process.execPath, 'docs/examples/express-receiver.ts'], {
      CREWBOARD_URL: service.url,
      CREWBOARD_TOKEN: service.token,
      WEBHOOK_SECRET: secret,
    });
    return receiver.stop;
  });

  it('hears of the board and of agents, and reads what an agent has written', async () => {
    const url = (await receiver.line('listening on ')).replace('listening on ', '');
    const events = ['task.status_changed', 'task.completed', 'agent.completed', 'agent.failed'];
    await register(service, { url, events, secret });
    await moveTask(service, await createTask(service, 'Paint it'), 'done');
    await receiver.line('Paint it: backlog → done');
    await receiver.line('Paint it is done');

    await createAgent(service, 'writer');
    await endOf(service, 'writer', await execute(service, 'writer', 'Write it.'));
    expect(await receiver.line('writer wrote: ')).toContain(output);
    await createAgent(service, 'failing', { model: 'no-such-model' });
    await endOf(service, 'failing', await execute(service, 'failing', 'Fail.'));
    await receiver.line('failing failed: ');
    expect(receiver.complaint()).toBe('');
  });
});
