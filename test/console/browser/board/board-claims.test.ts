import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { NewTask, Task } from '../../../../lib/client/operations.ts';
import { successOf } from '../../../api.ts';
import { newToken, readTask } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';

const worker = '<b>laptop</b>';
const reason = '3 workers in a row have released it as failed, the last one with: <i>No key.</i>';

describe.runIf(program)('claims on the board', () => {
  const consoles = useConsole();
  const api = () => consoles.service().api;
  const create = async (fields: Partial<NewTask> & Pick<NewTask, 'title'>) =>
    successOf<Task>(await api().createTask({ body: fields }));

  /** Claims a task, and returns the id of the claim. */
  const claim = async ({ id }: Task) =>
    successOf<Task>(await api().claimTask({ params: { id }, body: { worker } })).claim?.id;

  /** Lets three workers fail on a task, so that it is stopped. */
  async function stop(task: Task): Promise<void> {
    for (let nth = 0; nth < 3; nth++) {
      const body = { claimId: await claim(task), failed: true, note: '<i>No key.</i>' };
      successOf(await api().releaseTask({ params: { id: task.id }, body }));
    }
  }

  const open = (path: string, options?: BrowserContextOptions, token = consoles.service().token) =>
    consoles.open({ token, path }, options);
  const panelOf = (page: Page, { title }: Task) => page.getByRole('dialog', { name: title, exact: true });
  const cardIn = (page: Page, column: string, { title }: Task) =>
    page.getByRole('region', { name: column, exact: true }).locator('.card').filter({ hasText: title });

  it('shows who has claimed a task, follows the notes, and takes it back after a question', async () => {
    const task = await create({ title: 'Taken back', status: 'assigned' });
    const claimId = await claim(task);
    const { page } = await open('/board');
    await cardIn(page, 'In progress', task).getByText(`claimed by ${worker}`, { exact: true }).waitFor();
    await page.clock.install();
    await page.getByRole('link', { name: task.title }).click();
    const section = panelOf(page, task).getByRole('region', { name: 'Claim' });
    await section.getByRole('heading', { name: `Claimed by ${worker}` }).waitFor();
    await section.getByText('It expires in 14 min unless the worker renews it.').waitFor();
    // A renewal has no event.
    const body = { claimId, note: '<img src=x onerror=alert(1)>', leaseSeconds: 7_200 };
    successOf(await api().renewClaim({ params: { id: task.id }, body }));
    await page.clock.fastForward(10_000);
    await section.getByText('Latest note: <img src=x onerror=alert(1)>').waitFor();
    await section.getByText('It expires in 1 h').waitFor();

    await section.getByRole('button', { name: 'Take back' }).click();
    const question = page.getByRole('dialog', { name: 'Take the task back?' });
    await question.getByText(`“${worker}” loses the task`).waitFor();
    await question.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).click();
    expect(await readTask(consoles.service(), task.id)).toHaveProperty('claim.id', claimId);
    await section.getByRole('button', { name: 'Take back' }).click();
    await question.getByRole('button', { name: 'Take back' }).click();
    await section.waitFor({ state: 'detached' });
    await panelOf(page, task).and(page.locator(':focus, :has(:focus)')).waitFor();
    expect(await panelOf(page, task).getByLabel('Status of the task').inputValue()).toBe('assigned');
    expect(await readTask(consoles.service(), task.id)).not.toHaveProperty('claim');
    await page.keyboard.press('Escape');
    await cardIn(page, 'Assigned', task).waitFor();
    expect(await page.locator('.claimed').count()).toBe(0);
  });

  it('shows why a task is stopped, and offers it again', async () => {
    const task = await create({ title: 'Stopped' });
    await stop(task);
    const { page } = await open(`/board?task=${task.id}`);
    const section = panelOf(page, task).getByRole('region', { name: 'Stopped' });
    await section.getByRole('heading', { name: /^Stopped (now|\d+ s ago)$/ }).waitFor();
    await section.getByText(reason).waitFor();
    await panelOf(page, task).getByText('released the task').first().waitFor();
    await section.getByRole('button', { name: 'Offer again' }).click();
    await section.waitFor({ state: 'detached' });
    await panelOf(page, task).and(page.locator(':focus, :has(:focus)')).waitFor();
    expect(await readTask(consoles.service(), task.id)).not.toHaveProperty('stopped');

    await page.goto(`${consoles.service().url}/#/events?task=${task.id}`);
    const released = page.getByRole('button', { name: `task.released ${task.title} (${worker}: failed)` });
    await released.first().locator('.status-failed').waitFor();
    await page
      .getByRole('button', { name: `task.claimed ${task.title} (${worker})` })
      .first()
      .waitFor();
    await page.getByLabel('Event', { exact: true }).selectOption('task.released');
    await expect.poll(() => released.count()).toBe(3);
  });

  it('puts the card of a claimed task back, and says who has claimed the task until when', async () => {
    const task = await create({ title: 'Dragged' });
    await claim(task);
    const { page, problems } = await open('/board');
    await cardIn(page, 'In progress', task).dragTo(page.getByRole('region', { name: 'Done' }));
    await page
      .getByText(/^“<b>laptop<\/b>” has claimed the task until .+\d{4}.+[AP]M\. Wait for its release, or take/)
      .waitFor();
    await cardIn(page, 'In progress', task).waitFor();
    expect(problems.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  it('keeps what was typed if the task is claimed, until it is taken back and saved', async () => {
    const task = await create({ title: 'Typed' });
    await claim(task);
    const { page, problems } = await open(`/board?task=${task.id}`);
    const panel = panelOf(page, task);
    await panel.getByLabel('Status of the task').selectOption('Done');
    const failure = panel.getByRole('alert').filter({ hasText: `“${worker}” has claimed the task until` });
    await failure.waitFor();
    await expect.poll(() => panel.getByLabel('Status of the task').inputValue()).toBe('in_progress');
    await panel.getByRole('button', { name: 'Edit' }).click();
    await panel.getByLabel('Description').fill('A long text');
    await panel.getByRole('button', { name: 'Save' }).click();
    await failure.waitFor();
    await panel.getByRole('button', { name: 'Take back' }).click();
    await page.getByRole('dialog', { name: 'Take the task back?' }).getByRole('button', { name: 'Take back' }).click();
    await failure.waitFor({ state: 'detached' });
    expect(await panel.getByLabel('Description').inputValue()).toBe('A long text');
    await panel.getByRole('button', { name: 'Save' }).click();
    const conflict = page.getByRole('dialog', { name: 'The task was changed in the meantime' });
    await conflict.getByRole('row', { name: `Worker ${worker} none` }).waitFor();
    await conflict.getByRole('button', { name: 'Save anyway' }).click();
    await panel.locator('.markdown').getByText('A long text').waitFor();
    expect(await readTask(consoles.service(), task.id)).toMatchObject({
      status: 'backlog',
      description: 'A long text',
    });
    expect(problems.splice(0)).toEqual(Array(2).fill(expect.stringContaining('409')));
  });

  it('shows claims without buttons for a token that can only read', async () => {
    const claimed = await create({ title: 'Read, claimed' });
    const stopped = await create({ title: 'Read, stopped' });
    await claim(claimed);
    await stop(stopped);
    const token = await newToken(consoles.service(), 'local', '--scopes', 'tasks:read');
    const { page } = await open(`/board?task=${claimed.id}`, undefined, token);
    await panelOf(page, claimed).getByRole('region', { name: 'Claim' }).waitFor();
    expect(await panelOf(page, claimed).getByRole('region').getByRole('button').count()).toBe(0);
    await page.goto(`${consoles.service().url}/#/board?task=${stopped.id}`);
    await panelOf(page, stopped).getByText(reason).waitFor();
    expect(await panelOf(page, stopped).getByRole('region').getByRole('button').count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)('has no accessibility problems in %s', async (colorScheme) => {
    const projectId = `proj_claims_${colorScheme}`;
    const claimed = await create({ title: 'Claimed', projectId });
    const stopped = await create({ title: 'Stopped', projectId });
    await claim(claimed);
    await stop(stopped);
    const { page, problems } = await open(`/board?project=${projectId}`, { viewport: screens.desktop, colorScheme });
    await cardIn(page, 'In progress', claimed).waitFor();
    await cardIn(page, 'Backlog', stopped).getByText('stopped', { exact: true }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('link', { name: claimed.title }).click();
    await panelOf(page, claimed).getByLabel('Status of the task').selectOption('Done');
    await panelOf(page, claimed).getByRole('alert').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: stopped.title }).click();
    await panelOf(page, stopped).getByRole('region', { name: 'Stopped' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(problems.splice(0)).toEqual([expect.stringContaining('409')]);
  });
});
