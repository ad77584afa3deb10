import type { Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { NewTask } from '../../../../lib/client/operations.ts';
import { successOf } from '../../../api.ts';
import { createAgent, readTask } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';

describe.runIf(program)('several tasks of the board', () => {
  const consoles = useConsole();
  const api = () => consoles.service().api;

  const create = async (title: string, fields: Partial<NewTask> = {}) =>
    successOf<{ id: string }>(await api().createTask({ body: { title, ...fields } })).id;

  /** Creates tasks with a name and a number, the last of which is the first in its column. Returns their ids. */
  async function createMany(name: string, count: number, fields: Partial<NewTask>): Promise<string[]> {
    const ids: string[] = [];
    for (let nth = 1; nth <= count; nth++) ids.push(await create(`${name} ${nth}.`, fields));
    return ids;
  }

  const openBoard = (project: string, ...options: Parameters<typeof consoles.open>[1][]) =>
    consoles.open({ token: consoles.service().token, path: `/board?project=${project}` }, ...options);

  const cardOf = (page: Page, title: string) => page.locator('.card').filter({ hasText: title });
  const barOf = (page: Page) => page.getByRole('region', { name: 'Selected tasks' });
  const selected = (page: Page, count: number) => barOf(page).getByText(`${count} selected`, { exact: true }).waitFor();
  const columnHas = (page: Page, column: string, count: number) =>
    page.getByRole('heading', { name: `${column} ${count}`, exact: true }).waitFor();
  const statusOf = async (id: string) => (await readTask(consoles.service(), id)).status;

  /** Opens a list of values by a button of the bar, and chooses the value that has what is typed. */
  async function choose(page: Page, button: string, typed: string): Promise<void> {
    await barOf(page).getByRole('button', { name: button }).click();
    await page.getByRole('combobox', { name: / of (\d+ tasks|“.*”)$/ }).fill(typed);
    await page.getByRole('option').nth(1).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
  }

  /** Lets a function see each change of a task before it is sent. */
  const onChange = (page: Page, see: (route: Route) => unknown) =>
    page.route('**/api/kanban-tasks/tk_*', async (route) => {
      if (route.request().method() === 'PATCH') await see(route);
      else await route.continue();
    });

  beforeAll(() => createAgent(consoles.service(), 'writer'));

  it('are selected up to 100, moved six at a time, and stay where a worker has claimed them', async () => {
    const projectId = 'proj_many';
    const ids = await createMany('Of many', 103, { projectId });
    const claimed = ids.at(-2) ?? '';
    successOf(await api().claimTask({ params: { id: claimed }, body: { worker: 'laptop' } }));
    const one = await openBoard(projectId);
    const { page } = one;
    await columnHas(page, 'In progress', 1);
    await cardOf(page, 'Of many 103.').click({ modifiers: ['Control'] });
    await selected(page, 1);
    const cards = page.getByRole('region', { name: 'Backlog' }).locator('.column-cards');
    await cards.evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await cardOf(page, 'Of many 1.').click({ modifiers: ['Shift'] });
    await page.getByText('At most 100 tasks can be selected at once.').waitFor();
    await selected(page, 1);
    await page.keyboard.press('Escape');
    await barOf(page).waitFor({ state: 'detached' });

    // The pages between the two cards are not on the screen.
    await cardOf(page, 'Of many 2.').click({ modifiers: ['Control'] });
    await cards.evaluate((list) => list.scrollTo(0, 0));
    await cardOf(page, 'Of many 100.').click({ modifiers: ['Shift'] });
    await selected(page, 99);
    await page.getByRole('checkbox', { name: 'Select “Of many 102.”' }).check();
    await selected(page, 100);
    expect(await accessibilityProblems(page)).toEqual([]);

    let [underWay, most, limited] = [0, 0, 0];
    await onChange(page, async (route) => {
      most = Math.max(most, ++underWay);
      if (++limited === 20) {
        const error = { code: 'rate_limited', message: 'Too many requests.', requestId: 'r' };
        await route.fulfill({ status: 429, headers: { 'Retry-After': '2' }, json: { success: false, error } });
      } else await route.continue();
      underWay--;
    });
    await choose(page, 'Move to…', 'done');
    // They are in their new column before the service has moved them.
    await columnHas(page, 'Done', 100);
    await page.getByText('The service is busy: all requests wait for 2 s.').first().waitFor();
    await barOf(page).getByText('99 of 100 tasks were moved to Done.').first().waitFor();
    await barOf(page).getByText('“laptop” has claimed the task until').waitFor();
    await selected(page, 1);
    await columnHas(page, 'Done', 99);
    await columnHas(page, 'In progress', 1);
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(most).toBeLessThanOrEqual(6);
    expect(await Promise.all([claimed, ids[0] ?? '', ids[1] ?? ''].map(statusOf))).toEqual([
      'in_progress',
      'backlog',
      'done',
    ]);
    expect(one.problems.splice(0).map((text) => /\d{3}/.exec(text)?.[0])).toEqual(['429', '409']);
  });

  it('are selected by keys, assigned and given a priority, and the user can stop', async () => {
    const projectId = 'proj_stopped';
    const ids = await createMany('To change', 9, { projectId });
    const one = await openBoard(projectId);
    const { page } = one;
    await cardOf(page, 'To change 9.').getByRole('link').focus();
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('x');
    await selected(page, 3);
    await page.keyboard.press('x');
    await selected(page, 2);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('p');
    await page.getByRole('combobox', { name: 'Priority of 2 tasks' }).fill('high');
    await page.getByRole('option').nth(1).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('2 tasks were given the priority high.').first().waitFor();
    await barOf(page).waitFor({ state: 'detached' });
    await cardOf(page, 'To change 8.').getByText('high').waitFor();

    for (let nth = 1; nth <= 8; nth++) {
      await cardOf(page, `To change ${nth}.`).hover();
      await page.getByRole('checkbox', { name: `Select “To change ${nth}.”` }).check();
    }
    await selected(page, 8);
    const held: Route[] = [];
    await onChange(page, (route) => held.push(route));
    await choose(page, 'Assign…', 'writ');
    await expect.poll(() => held.length).toBe(6);
    await barOf(page).getByText('Assigning: 0 of 8').waitFor();
    await barOf(page).getByRole('button', { name: 'Stop' }).click();
    await Promise.all(held.map((route) => route.continue()));
    const result = '6 of 8 tasks were assigned to writer. You have stopped before 2 others were begun.';
    await barOf(page).getByText(result).first().waitFor();
    await selected(page, 2);
    await page.unroute('**/api/kanban-tasks/tk_*');
    const agents = await Promise.all(ids.map(async (id) => (await readTask(consoles.service(), id)).assignedAgent));
    expect(agents.filter((name) => name === 'writer')).toHaveLength(6);

    // One of the two others disappears; the other one is dragged, and then deleted.
    await barOf(page).getByRole('button', { name: 'Close' }).click();
    const left = await page
      .locator('.card[data-selected]')
      .evaluateAll((all) => all.map((one) => one.dataset.card ?? ''));
    expect(left).toHaveLength(2);
    successOf(await api().deleteTask({ params: { id: left[0] ?? '' } }));
    await create('An event', { projectId });
    await selected(page, 1);
    expect(one.problems.splice(0)).toEqual([expect.stringContaining('404')]);
    await barOf(page).getByRole('button', { name: 'Delete…' }).click();
    const question = page.getByRole('dialog', { name: 'Delete 1 task?' });
    await question.getByRole('button', { name: 'Delete 1 task' }).click();
    await columnHas(page, 'Backlog', 8);
    await barOf(page).waitFor({ state: 'detached' });
  });

  it('are dragged together, and selected on a phone by the menu of a card', async () => {
    const projectId = 'proj_dragged';
    const ids = await createMany('To drag', 3, { projectId });
    const { page } = await openBoard(projectId);
    await cardOf(page, 'To drag 3.').click({ modifiers: ['Control'] });
    await cardOf(page, 'To drag 1.').click({ modifiers: ['Control'] });
    await cardOf(page, 'To drag 1.').dragTo(page.getByRole('region', { name: 'Assigned' }));
    await columnHas(page, 'Assigned', 2);
    await expect.poll(() => Promise.all(ids.map(statusOf))).toEqual(['assigned', 'backlog', 'assigned']);

    const phone = (await openBoard(projectId, { viewport: screens.phone, hasTouch: true, isMobile: true })).page;
    await cardOf(phone, 'To drag 2.').getByRole('button').tap();
    await phone.getByRole('menuitem', { name: 'Select' }).tap();
    await selected(phone, 1);
    await cardOf(phone, 'To drag 2.').getByRole('checkbox').tap();
    await barOf(phone).waitFor({ state: 'detached' });
  });
});
