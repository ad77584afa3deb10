import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Comment, Task } from '../../../../lib/client/operations.ts';
import { dataOf, successOf } from '../../../api.ts';
import { newToken } from '../../../journeys/requests.ts';
import { program, useConsole } from '../console.ts';

describe.runIf(program)('the comments and the history of a task', () => {
  const consoles = useConsole();
  const api = () => consoles.service().api;
  const create = async (title: string) => successOf<Task>(await api().createTask({ body: { title } }));
  const comment = async ({ id }: Task, text: string, token?: string) =>
    successOf<Comment>(await api().commentOnTask({ params: { id }, body: { text }, ...(token && { token }) }));
  const commentsOf = async ({ id }: Task) => dataOf<Comment[]>(await api().listComments({ params: { id } }));
  const open = ({ id }: Task, token = consoles.service().token) => consoles.open({ token, path: `/board?task=${id}` });
  const partOf = (page: Page, name: string) => page.getByRole('dialog').getByRole('region', { name, exact: true });

  it('shows comments oldest first, with who has written them, as text', async () => {
    const task = await create('Commented');
    const ada = await newToken(consoles.service(), 'local', '--name', '<i>Ada</i>', '--person');
    await comment(task, 'First <script>alert(1)</script> [bad](javascript:alert(1))', ada);
    await comment(task, 'Second');
    const { page } = await open(task);
    const items = partOf(page, 'Comments').locator('.comment');
    await expect.poll(() => items.count()).toBe(2);
    await items.first().getByText('<i>Ada</i>', { exact: true }).waitFor();
    await items.first().getByText('person', { exact: true }).waitFor();
    await items.first().getByText('First <script>alert(1)</script> bad').waitFor();
    expect(await items.getByRole('link').count()).toBe(0);
    await items.last().getByText('token, you', { exact: true }).waitFor();
    // Names do not count: only the token that has written a comment can change it.
    expect(await items.first().getByRole('button').count()).toBe(0);
    await partOf(page, 'Comments').getByRole('heading', { name: 'Comments 2' }).waitFor();
  });

  it('writes a comment, changes it, and deletes it after a question', async () => {
    const task = await create('Written');
    const { page } = await open(task);
    const part = partOf(page, 'Comments');
    const button = (name: string) => part.getByRole('button', { name, exact: true });
    await part.getByLabel('Comment, in Markdown').fill('One **word**');
    await button('Comment').click();
    await part.locator('strong').getByText('word').waitFor();
    await expect.poll(() => part.getByLabel('Comment, in Markdown').inputValue()).toBe('');
    expect(await button('Comment').isDisabled()).toBe(true);
    await partOf(page, 'History').getByText('One **word**').waitFor();

    await button('Change the comment').click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await part.getByLabel('Text of the comment').fill('Two words');
    await button('Save').click();
    await part.locator('.markdown').getByText('Two words').waitFor();
    await part.getByText(', edited').waitFor();
    expect(await commentsOf(task)).toMatchObject([{ text: 'Two words' }]);

    await button('Change the comment').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const question = page.getByRole('dialog', { name: 'Delete the comment?' });
    await question.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).click();
    expect(await commentsOf(task)).toHaveLength(1);
    await button('Change the comment').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await question.getByRole('button', { name: 'Delete the comment' }).click();
    await part.locator('.comment').waitFor({ state: 'detached' });
    await expect.poll(() => commentsOf(task)).toEqual([]);
  });

  it('keeps what was typed if a comment is refused, and says why', async () => {
    const task = await create('Refused');
    const { page, problems } = await open(task);
    const part = partOf(page, 'Comments');
    await page.route('**/comments', (route) => {
      const error = { code: 'limit_reached', message: 'A task has at most 1,000 comments.', requestId: 'r' };
      return route.request().method() === 'POST'
        ? route.fulfill({ status: 409, json: { success: false, error } })
        : route.continue();
    });
    await part.getByLabel('Comment, in Markdown').fill('Too many');
    await part.getByRole('button', { name: 'Comment', exact: true }).click();
    await part.getByRole('alert').getByText('A task has at most 1,000 comments.').waitFor();
    expect(await part.getByLabel('Comment, in Markdown').inputValue()).toBe('Too many');
    expect(problems.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  it('follows what others write, and keeps what is typed meanwhile', async () => {
    const task = await create('Followed');
    const { page } = await open(task);
    await partOf(page, 'History').getByText('created the task').waitFor();
    await partOf(page, 'Comments').getByLabel('Comment, in Markdown').fill('Mine');
    await comment(task, 'Theirs');
    await partOf(page, 'Comments').locator('.comment').getByText('Theirs').waitFor();
    await partOf(page, 'History').getByText('commented').waitFor();
    expect(await partOf(page, 'Comments').getByLabel('Comment, in Markdown').inputValue()).toBe('Mine');
  });

  it('shows a change without an event in the history, which is read once more', async () => {
    const task = await create('Late');
    const { page } = await open(task);
    await partOf(page, 'History').getByText('created the task with the status backlog').waitFor();
    await page.getByLabel('Priority of the task').selectOption('critical');
    await partOf(page, 'History').getByText('changed the priority from medium to critical').waitFor();
  });

  it('shows the newest of many comments and entries, and reads the others when they are wanted', async () => {
    const task = await create('Long');
    for (let nth = 1; nth <= 60; nth++) await comment(task, `Comment ${nth}.`);
    const { page } = await open(task);
    const texts = () => partOf(page, 'Comments').locator('.comment .markdown').allInnerTexts();
    await expect.poll(async () => (await texts())[0]).toBe('Comment 11.');
    expect(await texts()).toHaveLength(50);
    await partOf(page, 'Comments').getByRole('button', { name: 'Show earlier comments' }).click();
    await expect.poll(async () => (await texts())[0]).toBe('Comment 1.');
    expect((await texts()).at(-1)).toBe('Comment 60.');
    expect(await texts()).toHaveLength(60);
    await comment(task, 'Comment 61.');
    await expect.poll(async () => (await texts()).length).toBe(61);

    const entries = partOf(page, 'History').getByRole('listitem');
    await expect.poll(() => entries.first().innerText()).toContain('Comment 61.');
    expect(await entries.count()).toBe(20);
    for (const count of [40, 60, 62]) {
      await partOf(page, 'History').getByRole('button', { name: 'Load more' }).click();
      await expect.poll(() => entries.count()).toBe(count);
    }
    await entries.last().getByText('created the task with the status backlog').waitFor();
  });

  it('says that a task was deleted by somebody else', async () => {
    const task = await create('Deleted');
    const { page, problems } = await open(task);
    await partOf(page, 'History').getByText('created the task').waitFor();
    successOf(await api().deleteTask({ params: { id: task.id } }));
    await expect.poll(() => page.getByRole('dialog').getByRole('region').count()).toBe(0);
    expect(await page.getByRole('dialog').getByRole('alert').count()).toBe(1);
    await page.locator('.card').filter({ hasText: 'Deleted' }).waitFor({ state: 'detached' });
    for (const problem of problems.splice(0)) expect(problem).toContain('404');
  });
});
