import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { NewTask, Task } from '../../../../lib/client/operations.ts';
import { successOf } from '../../../api.ts';
import { readTask } from '../../../journeys/requests.ts';
import { openAccount, program, screens, useConsole } from '../console.ts';
import { tabTo } from '../keyboard.ts';

describe.runIf(program)('the panel of a task beside the board', () => {
  const consoles = useConsole();
  const create = async (fields: Partial<NewTask> & Pick<NewTask, 'title'>) =>
    successOf<Task>(await consoles.service().api.createTask({ body: fields }));
  const open = (project: string, task: Task, viewport = screens.desktop) => {
    const path = `/board?project=${project}&task=${task.id}`;
    return consoles.open({ token: consoles.service().token, path }, { viewport });
  };
  const panelOf = (page: Page, { title }: Task) => page.getByRole('dialog', { name: title, exact: true });
  const cardOf = (page: Page, { title }: Task) => page.locator('.card').filter({ hasText: title });
  const columnOf = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

  it('leaves the board usable: it opens, moves and creates tasks', async () => {
    const projectId = 'proj_beside';
    const one = await create({ projectId, title: 'One' });
    const other = await create({ projectId, title: 'Other' });
    const { page } = await open(projectId, one);
    await panelOf(page, one).waitFor();
    await cardOf(page, other).click();
    await panelOf(page, other).waitFor();
    await cardOf(page, one).dragTo(columnOf(page, 'Assigned'));
    await expect.poll(async () => (await readTask(consoles.service(), one.id)).status).toBe('assigned');
    await panelOf(page, other).waitFor();
    await page.getByRole('heading', { name: 'Board', level: 1 }).click();
    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: 'Create a task' }).getByLabel('Title').fill('Third');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.locator('.card').filter({ hasText: 'Third' }).waitFor();
    await panelOf(page, other).waitFor();
  });

  it('begins at the top of each task, and keeps what was typed while another task is open', async () => {
    const projectId = 'proj_drafts';
    const description = 'A line.\n\n'.repeat(60);
    const one = await create({ projectId, title: 'One', status: 'qa_review', description });
    const other = await create({ projectId, title: 'Other', status: 'qa_review', description });
    const { page } = await open(projectId, one);
    const fieldOf = (task: Task, part: string) =>
      panelOf(page, task).getByRole('region', { name: part }).getByRole('textbox');
    const comment = (task: Task) => fieldOf(task, 'Comments');
    const review = (task: Task) => fieldOf(task, 'Review');
    await comment(one).fill('A comment');
    await review(one).fill('A review');
    await panelOf(page, one).evaluate((panel) => panel.scrollTo(0, panel.scrollHeight));
    await cardOf(page, other).click();
    await expect.poll(() => panelOf(page, other).evaluate((panel) => panel.scrollTop)).toBe(0);
    expect([await comment(other).inputValue(), await review(other).inputValue()]).toEqual(['', '']);
    await cardOf(page, one).click();
    await panelOf(page, one).waitFor();
    expect([await comment(one).inputValue(), await review(one).inputValue()]).toEqual(['A comment', 'A review']);
  });

  it('covers no column: each can be scrolled into view, as is that of the task', async () => {
    const projectId = 'proj_columns';
    const first = await create({ projectId, title: 'First', status: 'backlog' });
    for (const status of ['assigned', 'in_progress', 'qa_review', 'up_for_review'] as const)
      await create({ projectId, title: `In ${status}`, status });
    const last = await create({ projectId, title: 'Last', status: 'done', dependsOn: [first.id] });
    const { page } = await open(projectId, last);
    /** Waits until the whole column is left of the panel. */
    const expectInView = (column: string) =>
      expect
        .poll(async () => {
          const shown = await columnOf(page, column).boundingBox();
          const board = await page.locator('.columns').boundingBox();
          const panel = await page.locator('.side-panel').boundingBox();
          if (!shown || !board || !panel) return false;
          const isInside = shown.x >= board.x && shown.x + shown.width <= board.x + board.width + 1;
          return isInside && board.x + board.width <= panel.x;
        })
        .toBe(true);
    await expectInView('Done');
    await panelOf(page, last)
      .getByRole('link', { name: /^First/ })
      .click();
    await panelOf(page, first).waitFor();
    await expectInView('Backlog');
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    expect(
      await page.evaluate('document.querySelector("main").scrollWidth - document.querySelector("main").clientWidth'),
    ).toBe(0);
  });

  it('closes by Escape, but not before what is in front of it', async () => {
    const projectId = 'proj_escape';
    const task = await create({ projectId, title: 'Closed' });
    const { page } = await open(projectId, task);
    await panelOf(page, task).waitFor();
    const fronts = [
      [() => page.getByRole('button', { name: 'Move “Closed” to…' }).click(), page.getByRole('menu')],
      [() => page.keyboard.press('c'), page.getByRole('dialog', { name: 'Create a task' })],
      [() => page.keyboard.press('Control+k'), page.getByRole('dialog', { name: 'Command menu' })],
      [() => openAccount(page), page.getByRole('button', { name: 'Sign out' })],
      [() => askToDelete(page), page.getByRole('dialog', { name: 'Delete the task?' })],
    ] as const;
    for (const [show, front] of fronts) {
      await page.getByRole('heading', { name: 'Board', level: 1 }).click();
      await show();
      await front.waitFor();
      await page.keyboard.press('Escape');
      await front.waitFor({ state: 'hidden' });
      await panelOf(page, task).waitFor();
    }
    await page.keyboard.press('Escape');
    await panelOf(page, task).waitFor({ state: 'detached' });
    expect(new URL(page.url()).hash).toBe(`#/board?project=${projectId}`);
  });

  it('is reached by Tab, and gives the focus back to the board', async () => {
    const projectId = 'proj_tab';
    const task = await create({ projectId, title: 'Tabbed' });
    const { page } = await open(projectId, task);
    await panelOf(page, task).getByText('created the task').waitFor();
    await page.getByRole('button', { name: 'Create a task', exact: true }).focus();
    await tabTo(panelOf(page, task).getByRole('button', { name: 'Edit' }));
    await tabTo(page.getByRole('link', { name: 'Overview' }));
  });

  it('covers the board on a smaller screen, and keeps what was typed when the window changes', async () => {
    const projectId = 'proj_resized';
    const task = await create({ projectId, title: 'Resized' });
    const { page } = await open(projectId, task);
    const field = panelOf(page, task).getByLabel('Comment, in Markdown');
    await field.fill('Typed');
    expect(await page.locator('.backdrop').count()).toBe(0);
    await page.setViewportSize({ width: 1279, height: 800 });
    await page.locator('.backdrop').waitFor();
    expect(await field.inputValue()).toBe('Typed');
    await page.setViewportSize(screens.desktop);
    await page.locator('.backdrop').waitFor({ state: 'detached' });
    expect(await field.inputValue()).toBe('Typed');
    await page.setViewportSize(screens.phone);
    await page.locator('.backdrop').waitFor();
    const box = await panelOf(page, task).boundingBox();
    expect([box?.x, box?.width]).toEqual([0, screens.phone.width]);
  });

  it.each([
    ['beside the board', screens.desktop, ['Delete the task?', 'Create a task']],
    ['over the board', { width: 1000, height: 800 }, ['Delete the task?']],
  ])('is covered by the backdrop of a dialog in front of it: %s', async (_, viewport, names) => {
    const projectId = `proj_covered-${viewport.width}`;
    const task = await create({ projectId, title: 'Covered' });
    const { page } = await open(projectId, task, viewport);
    await panelOf(page, task).getByText('created the task').waitFor();
    for (const name of names) {
      if (name === 'Delete the task?') await askToDelete(page);
      else await page.keyboard.press('c');
      await page.getByRole('dialog', { name }).waitFor();
      expect(await topOf(page.locator('.side-panel')), name).toBe('backdrop');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog', { name }).waitFor({ state: 'detached' });
      expect(await topOf(page.locator('.side-panel')), name).toContain('side-panel');
    }
  });
});

/** Chooses the deletion in the menu of the panel. */
async function askToDelete(page: Page): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
}

/** Returns the class of what a click on the upper right corner of an element reaches. */
const topOf = (element: Locator) =>
  element.evaluate((one) => {
    const { right, top } = one.getBoundingClientRect();
    return one.ownerDocument.elementFromPoint(right - 2, top + 2)?.className;
  });
