import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ExecutionListItem, Task } from '../../../lib/client/operations.ts';
import { dataOf } from '../../api.ts';
import { type Ended, newFolder, startDeployment } from '../../journeys/deployment.ts';
import { createAgent, createTask, endOf, execute, moveTask, newToken, register } from '../../journeys/requests.ts';
import { type Started, startReceiver } from '../receiving-webhooks/receiver-program.ts';
import { secret } from './posted.ts';

type Example = { name: string; command: string[]; probe?: string[] };

const python = 'import sys; sys.exit(sys.version_info < (3, 10))';
const examples: Example[] = [
  { name: 'curl', command: ['bash', 'docs/examples/curl.sh'] },
  { name: 'typescript', command: [process.execPath, 'docs/examples/typescript.ts'] },
  // Isolated and without site packages: only the standard library is available.
  {
    name: 'python',
    command: ['python3', '-I', '-S', 'docs/examples/python.py'],
    probe: ['python3', '-c', python],
  },
];

const service = await startDeployment();
const { api } = service;

/** Runs an example in a new folder. With `kept`, the folder has this token in the file of the local service. */
function runExample({ command: [program = '', ...args] }: Example, given: { kept?: string; token?: string }) {
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

/** Returns the printed lines of an example, with ids replaced by their order. */
function linesOf(stdout: string): string[] {
  const ids: string[] = [];
  const named = stdout.replaceAll(/\b(tk|ex)_\w{26}/g, (id, kind) => {
    if (!ids.includes(id)) ids.push(id);
    return `${kind}-${ids.indexOf(id) + 1}`;
  });
  return named.trimEnd().split('\n');
}

const output = '(simulated)';

describe.each(examples)('the example in $name', (example) => {
  const { probe: [program = '', ...args] = ['true'] } = example;
  const missing = spawnSync(program, args).status === 0 ? undefined : `${example.name} is not on this machine.`;
  if (missing) console.warn(missing);

  it('prints each step on an empty board', async ({ skip }) => {
    if (missing) skip(missing);
    const token = await newToken(service, `${example.name}-once`);
    const { code, stdout, stderr } = await runExample(example, { kept: token });
    expect([code, stderr]).toEqual([0, '']);
    const lines = linesOf(stdout);
    expect([lines[0]?.toLowerCase(), ...lines.slice(1, 3)]).toEqual([
      'created tk-1 and tk-2; repeated: true',
      'created builder',
      'rejected: 409 task_blocked',
    ]);
    expect(lines[3]).toMatch(/^ {2}.*blockedBy\.0.*tk-1 is backlog\./);
    expect(lines.slice(4, 6)).toEqual([
      'tk-1 is done',
      'rejected: 412 precondition_failed; read the task again, then decide again',
    ]);
    expect(lines[6]).toMatch(/^ex-3 is completed: /);
    expect(lines[6]).toContain(output);
    expect(lines.slice(7)).toEqual(['to review: tk-2 Build it']);

    const [build, design, ...others] = dataOf<Task[]>(await api.listTasks({ token }));
    expect(others).toEqual([]);
    expect(build).toMatchObject({ title: 'Build it', status: 'up_for_review', dependsOn: [design?.id] });
    expect(build?.assignedAgent).toBe('builder');
    expect(design).toMatchObject({ title: 'Draw the landing page', status: 'done' });
    const executions = dataOf<ExecutionListItem[]>(await api.listExecutions({ token }));
    expect(executions).toMatchObject([{ agentName: 'builder', taskId: build?.id, status: 'completed' }]);
  });

  it('runs again with an existing agent, and lists more than one page of tasks', async ({ skip }) => {
    if (missing) skip(missing);
    const token = await newToken(service, `${example.name}-again`);
    const agent = { name: 'builder', displayName: 'Builder', category: 'development' };
    await api.createAgent({ body: agent, token });
    const waiting = { title: 'Waits', status: 'up_for_review', assignedAgent: 'builder' };
    const more = Array.from({ length: 120 }, () => api.createTask({ body: waiting, token }));
    expect(new Set((await Promise.all(more)).map(({ status }) => status))).toEqual(new Set([201]));
    await api.createTask({ body: { ...waiting, status: 'done' }, token });

    const { code, stdout, stderr } = await runExample(example, { token });
    expect([code, stderr]).toEqual([0, '']);
    const lines = linesOf(stdout);
    expect(lines[1]).toBe('builder already exists');
    const listed = lines.filter((line) => line.startsWith('to review: '));
    expect(listed[0]).toBe('to review: tk-2 Build it');
    expect(new Set(listed).size).toBe(121);
    expect(listed).toHaveLength(121);
  });

  it('exits with the error of an unknown token', async ({ skip }) => {
    if (missing) skip(missing);
    const { code, stdout, stderr } = await runExample(example, { token: 'crew_unknown' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/Authorization: Bearer/);
  });
});

describe('the receiver with Express', () => {
  let receiver: Started;
  // Not at collection: a test that is skipped would never stop it.
  beforeAll(() => {
    receiver = startReceiver([process.execPath, 'docs/examples/express-receiver.ts'], {
      CREWBOARD_URL: service.url,
      CREWBOARD_TOKEN: service.token,
      WEBHOOK_SECRET: secret,
    });
    return receiver.stop;
  });

  it('receives events of tasks and agents, and reads the output of an agent', async () => {
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
