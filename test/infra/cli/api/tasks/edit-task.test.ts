import { Readable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { startDeployment } from '../../../../journeys/deployment.ts';
import { createAgent } from '../../../../journeys/requests.ts';
import { commandsOf, onTerminal } from '../crewboard.ts';

const service = await startDeployment();
const { run, output, json, messageOf } = commandsOf(service);
await createAgent(service, 'builder');

const add = (title: string, ...options: string[]) => output('tasks', 'add', title, ...options);
const aTask = 'tk_01K00000000000000000000000';

it('changes the fields that are named, and clears those that are empty', async () => {
  const [first, second] = [await add('First'), await add('Second')];
  const id = await add('Draw', '--priority', 'low', '--agent', 'builder', '--project', 'proj_site');
  const options = ['--title', 'Draw it', '--description', 'On a phone\ntoo.', '--depends-on', `${first}, ${second}`];
  expect((await output('tasks', 'edit', id, ...options, '--priority', 'high')).split('\n')).toEqual([
    `id           ${id}`,
    'title        Draw it',
    'status       backlog',
    'priority     high',
    'agent        builder',
    'project      proj_site',
    `depends on   ${first}`,
    `             ${second}`,
    'description  On a phone',
    '             too.',
  ]);
  const none = ['--description', '', '--agent', '', '--project', '', '--depends-on', ''];
  const { data } = await json('tasks', 'edit', id, ...none, '--status', 'assigned');
  expect(data).toMatchObject({ id, title: 'Draw it', status: 'assigned', priority: 'high', dependsOn: [] });
  for (const field of ['description', 'assignedAgent', 'projectId']) expect(data).not.toHaveProperty(field);
});

it('reads the description of a task from standard input', async () => {
  const id = await add('Draw');
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from(['# As\ndrawn\n']) as never);
  const { data } = await json('tasks', 'edit', id, '--description', '-');
  stdin.mockRestore();
  expect(data.description).toBe('# As\ndrawn');
});

it('says what is wrong with a change, and changes nothing', async () => {
  const id = await add('Draw');
  const missing = ['tasks', 'edit', id, '--title', 'Other', '--agent', 'nobody'];
  expect(await messageOf(...missing)).toMatch(/nobody/);
  expect((await json('tasks', 'show', id)).data).toMatchObject({ title: 'Draw' });
  const { claim } = (await json('claim', id, '--worker', 'one')).data;
  expect(await messageOf('tasks', 'edit', id, '--description', 'Mine')).toMatch(/^A worker has claimed the task/);
  const claimed = ['tasks', 'edit', id, '--description', 'Mine', '--claim-id', claim.id];
  expect(await output(...claimed)).toMatch(/^description +Mine$/m);
});

it.each([
  [['tasks', 'edit', aTask], /error: Name a change: --title/],
  [['tasks', 'edit', aTask, '--depends-on', 'ex_1'], /It must be an id of the form tk_/],
  [['tasks', 'delete', aTask], /error: There is no terminal to ask on; add --yes/],
  [['tasks', 'count', '--by', 'title'], /Allowed choices are status, priority, assigned_agent/],
  [['tasks', 'delete-comment', aTask, 'cm_1', '--yes'], /It must be an id of the form cm_/],
])('exits with 2 for the wrong usage %j', async (args, message) => {
  expect(await run(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
});

it('deletes a task without a question with --yes, and tells why one cannot be deleted', async () => {
  const id = await add('Draw');
  const dependent = await add('Build', '--depends-on', id);
  expect(await messageOf('tasks', 'delete', id, '--yes')).toMatch(new RegExp(dependent));
  expect(await output('tasks', 'delete', dependent, '--yes')).toBe(`Deleted the task ${dependent}.`);
  expect(await json('tasks', 'delete', id, '--yes')).toEqual({ data: { id } });
  expect(await messageOf('tasks', 'show', id)).toMatch(/no such task/);
});

it('asks on a terminal, naming the task, and deletes after yes only', async () => {
  const id = await add('Red\u202E title');
  const remove = () => run('tasks', 'delete', id);
  const question = `Delete the task ${id} "Red title"? This cannot be undone. [y/N] `;
  for (const answer of ['n\n', '\n', ''])
    expect(await onTerminal(answer, remove)).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringContaining('Nothing was deleted.\n'),
    });
  expect((await json('tasks', 'show', id)).data).toMatchObject({ id });
  const { code, stdout, stderr } = await onTerminal('y\n', remove);
  expect([code, stdout]).toEqual([0, `Deleted the task ${id}.\n`]);
  expect(stderr).toContain(question);
  expect(await onTerminal('y\n', remove)).toEqual({
    ...{ code: 1, stdout: '' },
    stderr: expect.stringMatching(/no such task/),
  });
});

it('counts tasks by a field', async () => {
  const project = ['--project', 'proj_counted'];
  await add('One', ...project, '--agent', 'builder');
  await add('Two', ...project, '--status', 'qa_review');
  expect((await output('tasks', 'count', ...project)).split('\n')).toEqual([
    ...['status         tasks', 'backlog        1', 'assigned       0', 'in_progress    0'],
    ...['qa_review      1', 'up_for_review  0', 'done           0', '2 in all.'],
  ]);
  const byAgent = await output('tasks', 'count', ...project, '--by', 'assigned_agent');
  expect(byAgent.split('\n')).toEqual(expect.arrayContaining(['assigned agent  tasks', 'none            1']));
  const { data } = await json('tasks', 'count', ...project, '--waiting-for', 'review', '--by', 'priority');
  expect(data).toMatchObject({ groupBy: 'priority', total: 1 });
});

it('changes and deletes a comment', async () => {
  const id = await add('Draw');
  const comment = await output('tasks', 'comment', id, 'Which logo?');
  expect(await output('tasks', 'edit-comment', id, comment, 'The red one?')).toBe(`Changed the comment ${comment}.`);
  const edited = await json('tasks', 'edit-comment', id, comment, 'The blue one?');
  expect(edited.data).toMatchObject({ id: comment, text: 'The blue one?' });
  expect(await output('tasks', 'comments', id)).toContain('The blue one?');
  expect(await json('tasks', 'delete-comment', id, comment, '--yes')).toEqual({ data: { id: comment } });
  expect(await output('tasks', 'comments', id)).toBe('0 comments.');
  expect(await messageOf('tasks', 'edit-comment', id, comment, 'Again')).toMatch(/no such comment/);
  const again = await run('tasks', 'delete-comment', id, comment, '--yes');
  expect(again).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/no such comment/) });
});
