import { Readable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { startDeployment } from '../../../../journeys/deployment.ts';
import { createAgent, endOf, execute, newScript } from '../../../../journeys/requests.ts';
import { crewboard } from '../crewboard.ts';

const script = newScript([{ match: 'Build', text: `# Page\u009b2J\n${'x'.repeat(20_000)}` }]);
const service = await startDeployment({ environment: { MODEL_SCRIPT: script } });
const run = (...args: string[]) => crewboard(args, { CREWBOARD_URL: service.url, CREWBOARD_TOKEN: service.token });

/** Runs a command that must succeed, and returns its standard output. */
async function output(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trimEnd();
}
const json = async (...args: string[]) => JSON.parse(await output(...args, '--json'));

/** Runs a command that must fail by an error response, and returns its message without the request id. */
async function messageOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect([code, stdout]).toEqual([1, '']);
  const [, message = ''] = /^([\s\S]+)\nRequest id: [\w-]+\n$/.exec(stderr) ?? [];
  return message;
}

/** Runs a command with a text on its standard input. */
async function withInput<Result>(text: string, act: () => Promise<Result>): Promise<Result> {
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([text]) as never);
  try {
    return await act();
  } finally {
    stdin.mockRestore();
  }
}

const add = (title: string, ...options: string[]) => output('tasks', 'add', title, ...options);
const waiting = ['--status', 'up_for_review'];
const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
const control = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u;

it('sends a task back with a comment, shows it to the next worker, and accepts the work', async () => {
  const id = await add('Build it', ...waiting, '--project', 'proj_review');
  expect(await output('tasks', 'list', '--waiting-for', 'review', '--project', 'proj_review')).toContain(id);
  expect(await output('tasks', 'review', id, '--send-back', '--comment', 'Wider than\na phone.')).toBe(
    `${id} is backlog: Build it`,
  );
  expect(await messageOf('tasks', 'review', id, '--accept')).toBe(
    'The task is backlog; only a task in qa_review or up_for_review can be reviewed.',
  );
  const claimed = await output('claim', id, '--worker', 'builder-1');
  expect(claimed).toMatch(/^review {7}\S.*: Wider than\n {13}a phone\.$/m);
  const claim = /^claim +(cl_\w{26})$/m.exec(claimed)?.[1] ?? '';
  expect(await messageOf('tasks', 'review', id, '--accept')).toMatch(
    /^A worker has claimed the task; wait .*builder-1/s,
  );
  await output('release', id, '--claim-id', claim, '--status', 'qa_review');
  const accepted = await withInput('Fits now.\n', () => json('tasks', 'review', id, '--accept', '--comment', '-'));
  expect(accepted.data).toMatchObject({ id, status: 'done' });
  expect(await output('tasks', 'comments', id)).toMatch(/ {2}sent back {2}cm_.* {2}accepted {2}cm_/s);
  const texts = (await json('tasks', 'comments', id)).data.map(({ text, review }: Record<string, string>) => [
    text,
    review,
  ]);
  expect(texts).toEqual([
    ['Wider than\na phone.', 'send_back'],
    ['Fits now.', 'accept'],
  ]);
});

it('comments on a task, and lists the comments in full with their authors', async () => {
  const id = await add('Draw it');
  expect(await output('tasks', 'comments', id)).toBe('0 comments.');
  const first = await output('tasks', 'comment', id, 'Which **logo**?\n- the red one\u009b2J\n2026 forged heading');
  const second = await withInput('From a file.\n', () => json('tasks', 'comment', id, '-'));
  expect(first).toMatch(/^cm_\w{26}$/);
  expect(second.data).toMatchObject({ text: 'From a file.', author: { kind: 'token' } });
  const author = second.data.author.name;
  const lines = (await output('tasks', 'comments', id)).split('\n');
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^${time}  ${author}  ${first}$`)),
    '  Which **logo**?',
    '  - the red one 2J',
    '  2026 forged heading',
    '',
    expect.stringMatching(new RegExp(`^${time}  ${author}  ${second.data.id}$`)),
    '  From a file.',
    '',
    '2 comments.',
  ]);
  await service.api.updateComment({ params: { id, commentId: first }, body: { text: 'Red.' } });
  const limited = await output('tasks', 'comments', id, '--limit', '1');
  expect(limited).toMatch(new RegExp(`  edited  ${first}\n  Red\\.\n`));
  expect(limited).toMatch(/1 of 2 comments\. --all lists all of them\.$/);
  expect((await json('tasks', 'comments', id, '--all')).pagination).toEqual({ limit: 2, offset: 0, total: 2 });
  expect(await messageOf('tasks', 'comment', id, ' ')).toMatch(/^text must have/);
});

it('lists what has happened to a task, in one line for each action', async () => {
  const id = await add('Red\u202E title', '--priority', 'high', ...waiting);
  await output('tasks', 'review', id, '--send-back', '--comment', 'Wider\n2026 forged');
  const listed = async () => (await output('tasks', 'history', id)).split('\n');
  await expect.poll(async () => (await listed()).length, { timeout: 10_000 }).toBe(4);
  const [head, ...lines] = await listed();
  expect(head).toMatch(/^at +kind +by +what$/);
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^${time}  reviewed  .*  status: up_for_review → backlog; Wider 2026 forged$`)),
    expect.stringMatching(
      new RegExp(`^${time}  created   .*  title: Red title; status: up_for_review; priority: high`),
    ),
    '2 actions.',
  ]);
  expect(lines.join('\n')).not.toMatch(control);
  const { data, pagination } = await json('tasks', 'history', id, '--limit', '1');
  expect([data.length, data[0].kind, pagination]).toEqual([1, 'reviewed', { limit: 1, offset: 0, total: 2 }]);
});

it('finds tasks by the words of their titles', async () => {
  const id = await add('Sketch the landing page', '--priority', 'low');
  const other = await add('Landing lights');
  const found = () => output('tasks', 'search', 'LAND', 'pag');
  await expect.poll(found, { timeout: 10_000 }).toMatch(new RegExp(`\n${id}  backlog  low .*\n1 task\\.$`));
  await expect.poll(() => output('tasks', 'search', 'landing'), { timeout: 10_000 }).toMatch(/2 tasks\.$/);
  const first = await json('tasks', 'search', 'landing', '--limit', '1');
  expect([first.data.map((task: { id: string }) => task.id), first.pagination]).toEqual([
    [other],
    { limit: 1, next: other },
  ]);
  expect((await json('tasks', 'search', 'landing', '--all')).pagination.next).toBeNull();
  expect(await output('tasks', 'search', 'landing', '--priority', 'high')).toBe('0 tasks.');
  expect(await messageOf('tasks', 'search', 'x')).toMatch(/^q must have/);
});

it('shows the result of a task with its output and the reasons of the quality gates', async () => {
  await createAgent(service, 'builder');
  const id = await add('Page', '--agent', 'builder');
  expect(await output('tasks', 'show', id, '--result')).toMatch(/^result +No execution on the task has ended\.$/m);
  expect(await output('tasks', 'show', id)).not.toMatch(/^result/m);
  const execution = await execute(service, 'builder', 'Build the page.', { taskId: id });
  await endOf(service, 'builder', execution);
  const shown = await output('tasks', 'show', id, '--result');
  expect(shown).toMatch(new RegExp(`^result +completed at ${time}$`, 'm'));
  expect(shown).toMatch(new RegExp(`^execution +${execution} of builder$`, 'm'));
  expect(shown).toMatch(/^quality gates +self-test \w+, QA review \w+$/m);
  expect(shown).toMatch(/^output +# Page 2J\n +x+\n/m);
  expect(shown).toContain(`… 20,010 characters in all: executions show ${execution} --agent builder`);
  expect(shown).not.toMatch(control);
  expect((await json('tasks', 'show', id, '--result')).data.result).toMatchObject({ executionId: execution });
});

const aTask = 'tk_01K00000000000000000000000';

it.each([
  [['tasks', 'review', aTask], /error: Name the decision: --accept or --send-back\./],
  [['tasks', 'review', aTask, '--accept', '--send-back'], /'--accept' cannot be used with option '--send-back'/],
  [['tasks', 'review', aTask, '--send-back'], /error: --send-back needs a --comment that says what is missing\./],
  [['tasks', 'comment', 'ex_1', 'Hi'], /It must be an id of the form tk_/],
  [['tasks', 'comment', aTask], /missing required argument 'text'/],
  [['tasks', 'history', aTask, '--limit', '0'], /whole number from 1 to 100/],
  [['tasks', 'search'], /missing required argument 'words'/],
  [['tasks', 'list', '--waiting-for', 'review', '--status', 'done'], /cannot be used with option '--status/],
])('exits with 2 for the wrong usage %j', async (args, message) => {
  expect(await run(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
});
