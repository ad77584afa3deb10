import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { NewTask, Task, TaskDetail } from '../../../../lib/client/operations.ts';
import { successOf } from '../../../api.ts';
import { createAgent, endOf, execute, newScript, newToken, readTask } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';

const longOutput = '# Report\n\n'.padEnd(20_000, 'A sentence. ');

const script = newScript([
  { match: 'VERDICT', text: 'The <b>goal</b> is reached.\n\nVERDICT: PASS' },
  { match: 'at length', text: longOutput },
  { match: 'impossible', error: 'ValidationException' },
  { match: 'text', text: '# A headline\n\nWith **bold** words. <img src=x onerror=alert(1)>' },
]);

describe.runIf(program)('the review of a task', () => {
  const consoles = useConsole({ environment: { MODEL_SCRIPT: script } });
  const api = () => consoles.service().api;

  /** Creates a task of the agent, and runs the agent on it. */
  async function createWorkedOn(title: string, more: Partial<NewTask> = {}): Promise<Task> {
    const body = { title, status: 'assigned', assignedAgent: 'writer', ...more };
    const task = successOf<Task>(await api().createTask({ body }));
    await endOf(consoles.service(), 'writer', await execute(consoles.service(), 'writer', title, { taskId: task.id }));
    return task;
  }

  const open = ({ id }: Task, token = consoles.service().token) => consoles.open({ token, path: `/board?task=${id}` });
  const panelOf = (page: Page, { title }: Task) => page.getByRole('dialog', { name: title, exact: true });
  const partOf = (page: Page, task: Task, name: string) =>
    panelOf(page, task).getByRole('region', { name, exact: true });
  const statusOf = async ({ id }: Task) => (await readTask(consoles.service(), id)).status;

  beforeAll(async () => {
    await createAgent(consoles.service(), 'writer', { systemPrompt: 'Write.' });
  });

  it('begins with the result: the output as text, the gates with their reasons, and the run', async () => {
    const task = await createWorkedOn('Write the text', { description: 'With a headline.' });
    const { page } = await open(task);
    const result = partOf(page, task, 'Result');
    await result.getByRole('heading', { name: 'A headline' }).waitFor();
    await result.locator('strong').getByText('bold', { exact: true }).waitFor();
    await result.getByText('<img src=x onerror=alert(1)>').waitFor();
    expect(await page.locator('img').count()).toBe(0);
    for (const gate of ['Self-test passed', 'QA review passed'])
      await result.locator('.gate').filter({ hasText: gate }).getByText('The <b>goal</b> is reached.').waitFor();
    expect(await result.getByText('VERDICT').count()).toBe(0);
    const headings = ['Result', 'Review', 'Description', 'Comments 0', 'History'];
    const shown = panelOf(page, task).locator('.task > section > h3');
    await expect.poll(() => shown.allInnerTexts()).toEqual(headings);
    await result.getByRole('link', { name: 'Open the run' }).click();
    await page.getByRole('heading', { name: 'Quality gates' }).waitFor();
  });

  it('says that an output is cut', async () => {
    const task = await createWorkedOn('Write at length');
    const { page } = await open(task);
    const note = 'The first 16,384 of 20,000 characters. The run has all of them.';
    await partOf(page, task, 'Result').getByText(note).waitFor();
  });

  it('sends a task back only with a comment, which the panel and the next run have, and accepts it', async () => {
    const task = await createWorkedOn('Write the text again');
    const { page } = await open(task);
    const review = partOf(page, task, 'Review');
    await review.getByRole('button', { name: 'Accept' }).waitFor();
    expect(await review.getByRole('button', { name: 'Send back' }).isDisabled()).toBe(true);
    await review.getByRole('textbox').fill('  ');
    expect(await review.getByRole('button', { name: 'Send back' }).isDisabled()).toBe(true);
    await review.getByRole('textbox').fill('The **prices** are missing.');

    const { promise: answering, resolve: answer } = Promise.withResolvers<void>();
    await page.route('**/review', async (route) => {
      await answering;
      await route.continue();
    });
    await review.getByRole('button', { name: 'Send back' }).click();
    await expect.poll(() => review.getByRole('button', { disabled: true }).count()).toBe(2);
    answer();
    await review.waitFor({ state: 'detached' });
    await page.getByText('Sent “Write the text again” back: Assigned.').waitFor();
    await panelOf(page, task).and(page.locator(':focus, :has(:focus)')).waitFor();
    expect(await panelOf(page, task).getByLabel('Status of the task').inputValue()).toBe('assigned');
    const comment = partOf(page, task, 'Comments').getByRole('listitem');
    await comment.getByText('Sent back', { exact: true }).waitFor();
    await comment.locator('strong').getByText('prices').waitFor();
    await partOf(page, task, 'History').getByText('sent the task back to assigned').waitFor();

    await execute(consoles.service(), 'writer', 'Write the text again', { taskId: task.id });
    await review.getByRole('button', { name: 'Accept' }).click();
    await expect.poll(() => statusOf(task)).toBe('done');
    await review.waitFor({ state: 'detached' });
    await partOf(page, task, 'History').getByText('accepted the task').waitFor();
  });

  it('shows why a review is refused, and keeps the comment', async () => {
    const task = await createWorkedOn('Write the text of another');
    const { page, problems } = await open(task);
    const review = partOf(page, task, 'Review');
    await page.route('**/review', (route) => {
      const error = { code: 'execution_running', message: 'An execution works on the task.', requestId: 'r' };
      return route.fulfill({ status: 409, json: { success: false, error } });
    });
    await review.getByRole('textbox').fill('Kept');
    await review.getByRole('button', { name: 'Accept' }).click();
    await review.getByRole('alert').getByText('An execution works on the task.').waitFor();
    expect(await review.getByRole('textbox').inputValue()).toBe('Kept');
    expect(await review.getByRole('button', { name: 'Send back' }).isEnabled()).toBe(true);
    expect(problems.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  it('is absent for a task in another status, and for a token that can only read', async () => {
    const failed = await createWorkedOn('Do the impossible');
    const { page } = await open(failed);
    const { result } = successOf<TaskDetail>(
      await api().getTask({ params: { id: failed.id }, query: 'include=result' }),
    );
    await partOf(page, failed, 'Result')
      .getByText(result?.errorReason as string, { exact: true })
      .waitFor();
    await partOf(page, failed, 'History').getByText('The execution did not complete.').waitFor();
    expect(await partOf(page, failed, 'Review').count()).toBe(0);

    const task = await createWorkedOn('Write the text to read');
    const reading = await newToken(consoles.service(), 'local', '--scopes', 'tasks:read,agents:read');
    const reader = await open(task, reading);
    await partOf(reader.page, task, 'Result').waitFor();
    expect(await panelOf(reader.page, task).getByRole('textbox').count()).toBe(0);
    expect(await partOf(reader.page, task, 'Review').count()).toBe(0);

    // Results need the scope of executions.
    const tasksOnly = await newToken(consoles.service(), 'local', '--scopes', 'tasks:read,tasks:write');
    const other = await open(task, tasksOnly);
    await partOf(other.page, task, 'Review').waitFor();
    expect(await partOf(other.page, task, 'Result').count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)('has no accessibility problems in %s', async (colorScheme) => {
    const task = await createWorkedOn('Write the text in colours');
    const body = { text: '# A comment\n\n`code`' };
    successOf(await api().commentOnTask({ params: { id: task.id }, body }));
    const path = `/board?task=${task.id}`;
    const { page } = await consoles.open(
      { token: consoles.service().token, path },
      { viewport: screens.desktop, colorScheme },
    );
    await partOf(page, task, 'History').getByText('commented').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.setViewportSize(screens.phone);
    await page.locator('.backdrop').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await panelOf(page, task).evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  });
});
