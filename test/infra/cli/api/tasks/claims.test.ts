import { expect, it } from 'vitest';
import { startDeployment } from '../../../../journeys/deployment.ts';
import { createAgent } from '../../../../journeys/requests.ts';
import { crewboard } from '../crewboard.ts';

const service = await startDeployment();
const run = (...args: string[]) => crewboard(args, { CREWBOARD_URL: service.url, CREWBOARD_TOKEN: service.token });

/** Runs a command that must succeed, and returns its standard output. */
async function output(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trimEnd();
}
const json = async (...args: string[]) => JSON.parse(await output(...args, '--json')).data;

/** Runs a command that must fail by an error response, and returns its message without the request id. */
async function messageOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect([code, stdout]).toEqual([1, '']);
  const [, message = ''] = /^([\s\S]+)\nRequest id: [\w-]+\n$/.exec(stderr) ?? [];
  return message;
}

const project = ['--project', 'proj_claims'];
const add = (title: string, ...options: string[]) => output('tasks', 'add', title, ...project, ...options);
const worker = ['--worker', 'builder-1'];

/** Claims a task, and returns the option that names the claim. */
async function claimOf(task: string): Promise<string[]> {
  return ['--claim-id', (await json('claim', task, ...worker)).claim.id];
}

const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
const lostClaim = ['--claim-id', 'cl_01K00000000000000000000000'];
const claimLost = 'This claim has ended, or the task has another one; stop the work, and claim the task again.';

it('lists the ready tasks, and claims the next one for a worker', async () => {
  await createAgent(service, 'builder');
  const only = ['--project', 'proj_next', '--agent', 'builder'];
  const options = [...only, '--status', 'assigned', '--description', 'On a phone\ntoo.'];
  const low = await output('tasks', 'add', 'Later', ...options, '--priority', 'low');
  const high = await output('tasks', 'add', 'Build it', ...options, '--priority', 'high');
  const lines = (await output('tasks', 'ready', ...only)).split('\n');
  expect(lines.slice(1)).toEqual([
    `${high}  assigned  high      builder          Build it`,
    `${low}  assigned  low       builder          Later`,
    '2 tasks.',
  ]);
  expect((await json('tasks', 'ready', ...only, '--limit', '1')).map(({ id }: { id: string }) => id)).toEqual([high]);

  const claimed = await output('next', ...worker, ...only);
  expect(claimed).toMatch(
    new RegExp(
      [
        `^id           ${high}`,
        'title        Build it',
        String.raw`claim        cl_\w{26}`,
        `claim until  ${time}`,
        'description  On a phone',
        '             too\\.$',
      ].join('\n'),
    ),
  );
  const asked = Date.now();
  const task = await json('next', ...worker, ...only, '--lease', '3600');
  expect(task).toMatchObject({ id: low, status: 'in_progress', claim: { worker: 'builder-1' } });
  expect(Math.round((Date.parse(task.claim.expiresAt) - asked) / 60_000)).toBe(60);
  expect(await output('tasks', 'list', ...only, '--priority', 'low')).toContain('  builder-1  Later\n');

  expect(await run('next', ...worker, ...only)).toEqual({ code: 0, stdout: '', stderr: 'No task is ready.\n' });
  expect(await json('next', ...worker, ...only)).toBeNull();
  expect(await output('tasks', 'ready', ...only)).toBe('0 tasks.');
});

it('claims a task, renews the claim and releases the task', async () => {
  const id = await add('Build it');
  expect(await output('claim', id, ...worker, '--lease', '60')).toMatch(
    new RegExp(String.raw`^id           ${id}\ntitle        Build it\nclaim        cl_\w{26}\nclaim until  ${time}$`),
  );
  const { claim } = await json('tasks', 'show', id);
  const own = ['--claim-id', claim.id];
  const renewed = await json('claim', id, ...worker, ...own);
  expect(renewed.claim.id).toBe(claim.id);
  expect(renewed.claim.expiresAt > claim.expiresAt).toBe(true);
  expect(await output('renew', id, ...own, '--lease', '3600', '--note', 'The header is done.')).toMatch(
    new RegExp(`^${id} is claimed until ${time}: Build it$`),
  );
  expect(await output('tasks', 'show', id)).toMatch(
    new RegExp(`^worker       builder-1\nclaim until  ${time}\nclaim note   The header is done\\.$`, 'm'),
  );
  expect((await json('renew', id, ...own)).claim).toMatchObject({ id: claim.id, note: 'The header is done.' });
  expect(await output('release', id, ...own, '--status', 'up_for_review', '--note', 'Ready.')).toBe(
    `${id} is up_for_review: Build it`,
  );
  expect(await messageOf('release', id, ...own)).toBe(claimLost);
  expect(await messageOf('renew', id, ...own)).toBe(claimLost);
  expect(await messageOf('claim', id, ...worker)).toBe(
    'The task is up_for_review; only a task in backlog or assigned can be claimed.',
  );
});

it('stops a task after three failures, shows why, and frees it', async () => {
  const id = await add('Build it');
  const fail = async (...options: string[]) => output('release', id, ...(await claimOf(id)), '--failed', ...options);
  await fail();
  await fail();
  expect(await fail('--note', 'The build fails.')).toBe(`${id} is backlog, stopped: Build it`);
  expect(await output('tasks', 'show', id)).toMatch(
    new RegExp(`^stopped      since ${time}: 3 workers in a row .*: The build fails\\.$`, 'm'),
  );
  expect(await messageOf('claim', id, ...worker)).toMatch(/^The task is stopped/);
  expect(await output('tasks', 'take-back', id)).toBe(`${id} is backlog: Build it`);
  expect(await json('tasks', 'show', id)).not.toHaveProperty('stopped');
});

it('takes a task back from its worker', async () => {
  const id = await add('Build it');
  const own = await claimOf(id);
  expect(await json('tasks', 'take-back', id)).toMatchObject({ id, status: 'backlog' });
  expect(await messageOf('renew', id, ...own)).toBe(claimLost);
  expect(await messageOf('tasks', 'take-back', id)).toMatch(/no such claim/);
});

it('says who has claimed a task, until when and what to do, and lets the worker change it', async () => {
  const id = await add('Build it');
  const { claim } = await json('claim', id, '--worker', 'Red\u202E\nuntil: never');
  const message = [
    'A worker has claimed the task; wait for its release, or take it back with: tasks take-back ID. The worker itself changes it with --claim-id.',
    '  worker: Red until: never',
    `  until: ${claim.expiresAt}`,
  ].join('\n');
  expect(await messageOf('tasks', 'done', id)).toBe(message);
  expect(await messageOf('tasks', 'move', id, 'backlog')).toBe(message);
  expect(await messageOf('claim', id, ...worker)).toBe(message);
  expect(await messageOf('tasks', 'done', id, ...lostClaim)).toBe(claimLost);
  const own = ['--claim-id', claim.id];
  expect(await output('tasks', 'move', id, 'qa_review', ...own)).toBe(`${id} is qa_review: Build it`);
  expect(await output('tasks', 'done', id, ...own)).toBe(`${id} is done: Build it`);
});

it('prints texts of others without control characters, and never at the start of a line', async () => {
  const forged = 'claim        cl_forged';
  const id = await add(`Red\u202E\n${forged}`, '--description', `first\u009b2J\n${forged}`);
  const shown = await output('claim', id, ...worker);
  const own = ['--claim-id', /^claim +(cl_\w{26})$/m.exec(shown)?.[1] ?? ''];
  expect(shown.split('\n').filter((line) => line.startsWith('claim '))).toHaveLength(2);
  const renewed = await output('renew', id, ...own, '--note', `Half\u009b\n${forged}`);
  const released = await output('release', id, ...own);
  expect([renewed.includes('\n'), released]).toEqual([false, `${id} is backlog: Red claim cl_forged`]);
  expect(shown + renewed + released).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
});

const aTask = 'tk_01K00000000000000000000000';

it.each([
  [['next'], /required option '--worker <name>' not specified/],
  [['next', '--worker', ' '], /It must have at least one visible character/],
  [['next', ...worker, '--lease', '59'], /whole number from 60 to 86400/],
  [['next', ...worker, '--lease', '86401'], /whole number from 60 to 86400/],
  [['claim', 'ex_1', ...worker], /It must be an id of the form tk_/],
  [['claim', aTask], /required option '--worker <name>' not specified/],
  [['renew', aTask], /required option '--claim-id <id>' not specified/],
  [['release', aTask, '--claim-id', aTask], /It must be an id of the form cl_/],
  [['release', aTask, ...lostClaim, '--status', 'gone'], /Allowed choices are backlog/],
  [['tasks', 'ready', '--limit', '101'], /whole number from 1 to 100/],
])('exits with 2 for the wrong usage %j', async (args, message) => {
  expect(await run(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
});
