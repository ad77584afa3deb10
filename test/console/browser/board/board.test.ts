import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { NewTask, Task } from '../../../../lib/client/operations.ts';
import { successOf } from '../../../api.ts';
import { newToken, readTask } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';
import { tabTo } from '../keyboard.ts';

/** Returns the column of the board with a title. */
const columnOf = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** Returns the card of a task in a column. */
const cardIn = (page: Page, column: string, title: string) =>
  columnOf(page, column).locator('.card').filter({ hasText: title });

describe.runIf(program)('the board', () => {
  const consoles = useConsole();
  let nextTitle = 0;

  /** Creates a task with a title of its own, and returns it. */
  async function create(fields: Partial<NewTask> = {}): Promise<Task> {
    const body = { title: `Task number ${++nextTitle}.`, ...fields };
    return successOf<Task>(await consoles.service().api.createTask({ body }));
  }

  /** Changes a task, as somebody else does. No event makes the board read it again. */
  const rename = async ({ id }: Task, title: string) =>
    successOf(await consoles.service().api.updateTask({ params: { id }, body: { title } }));

  /** Opens the board with the tasks of a project only. */
  const openBoard = (project: string, search = '', ...options: Parameters<typeof consoles.open>[1][]) =>
    consoles.open({ token: consoles.service().token, path: `/board?project=${project}${search}` }, ...options);

  /** Opens the menu of a card by the keyboard and selects a column. */
  async function moveByKeyboard(page: Page, { title }: Task, to: string): Promise<void> {
    const menu = page.getByRole('button', { name: `Move “${title}” to…` });
    await menu.focus();
    await page.keyboard.press('Enter');
    const item = page.getByRole('menuitem', { name: `Move to ${to}` });
    await item.waitFor();
    while (!(await item.evaluate((element) => element.matches(':focus')))) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
  }

  beforeAll(async () => {
    const body = { name: 'writer', displayName: 'Writer', category: 'development', systemPrompt: 'Write.' };
    successOf(await consoles.service().api.createAgent({ body }));
  });

  it('shows the tasks in the columns of their statuses, with exact counts', async () => {
    const fields = {
      projectId: 'proj_counts',
      status: 'qa_review',
      priority: 'high',
      assignedAgent: 'writer',
    } as const;
    const dependency = await create({ projectId: 'proj_counts' });
    const tasks = [];
    for (let nth = 0; nth < 60; nth++) tasks.push(await create({ ...fields, dependsOn: [dependency.id] }));
    const { page } = await openBoard('proj_counts');
    await columnOf(page, 'QA review').getByRole('heading', { name: 'QA review 60' }).waitFor();
    await columnOf(page, 'Backlog').getByRole('heading', { name: 'Backlog 1' }).waitFor();
    await columnOf(page, 'Done').getByText('No tasks').waitFor();
    const card = cardIn(page, 'QA review', tasks.at(-1)?.title ?? '');
    for (const fact of ['priority high', 'agent writer', 'WR', 'project counts', 'blocked by 1'])
      await card.getByText(fact, { exact: true }).waitFor();
    expect(await card.getByText('blocked by 1').getAttribute('title')).toBe(`Must be done first: ${dependency.title}`);
    // The last card is on the second page, which is read when it is in view.
    await columnOf(page, 'QA review')
      .locator('.column-cards')
      .evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await cardIn(page, 'QA review', tasks[0]?.title ?? '').waitFor();

    const body = { status: 'done' };
    successOf(await consoles.service().api.updateTask({ params: { id: dependency.id }, body }));
    await page.getByText('blocked by 1').first().waitFor({ state: 'detached' });
    await cardIn(page, 'QA review', tasks[0]?.title ?? '').waitFor();
  });

  it('shows how long an execution on a task in progress has been running', async () => {
    const task = await create({ projectId: 'proj_running', status: 'in_progress' });
    const waiting = await create({ projectId: 'proj_running', status: 'assigned' });
    const { page } = await consoles.open();
    await page.route('**/api/agents/executions?*', (route) => {
      const startedAt = new Date(Date.now() - 125_000).toISOString();
      const data = [task, waiting].map(({ id }) => ({
        id: `ex_${id}`,
        agentName: 'writer',
        taskId: id,
        status: 'running',
        startedAt,
      }));
      return route.fulfill({ json: { success: true, data, pagination: { limit: 100, offset: 0, total: 2 } } });
    });
    await page.goto(`${consoles.service().url}/#/board?project=proj_running`);
    await cardIn(page, 'In progress', task.title).getByText('2 min').waitFor();
    await cardIn(page, 'Assigned', waiting.title).waitFor();
    expect(await cardIn(page, 'Assigned', waiting.title).getByText('min').count()).toBe(0);
  });

  it('has room for all columns, and remembers which are collapsed; they take cards too', async () => {
    const long = {
      projectId: 'proj_collapsed',
      title: 'A title of which even three lines of a column show no more than the first few words',
    };
    const task = await create(long);
    for (const status of ['assigned', 'in_progress', 'qa_review', 'up_for_review', 'done'] as const)
      await create({ ...long, status });
    const { page } = await openBoard('proj_collapsed');
    await columnOf(page, 'Done').locator('.card').waitFor();
    expect(await page.evaluate('document.querySelector(".columns").scrollWidth')).toBe(
      await page.evaluate('document.querySelector(".columns").clientWidth'),
    );
    // Three lines.
    const link = cardIn(page, 'Backlog', task.title).getByRole('link');
    expect(await link.evaluate(({ clientHeight }) => clientHeight)).toBe(60);

    const head = columnOf(page, 'Done').getByRole('button', { name: /^Done/ });
    await head.press('Enter');
    await columnOf(page, 'Done').locator('.card').waitFor({ state: 'detached' });
    await page.reload();
    await columnOf(page, 'Done').getByRole('heading', { name: 'Done 1' }).waitFor();
    expect(await head.getAttribute('aria-expanded')).toBe('false');
    expect(await accessibilityProblems(page)).toEqual([]);
    await cardIn(page, 'Backlog', task.title).dragTo(columnOf(page, 'Done'));
    await columnOf(page, 'Done').getByRole('heading', { name: 'Done 2' }).waitFor();
    await head.click();
    await columnOf(page, 'Done').locator('.card').nth(1).waitFor();
  });

  it('moves a card by drag and drop', async () => {
    const task = await create({ projectId: 'proj_drag' });
    const { page } = await openBoard('proj_drag');
    await cardIn(page, 'Backlog', task.title).dragTo(columnOf(page, 'In progress'));
    await cardIn(page, 'In progress', task.title).waitFor();
    await columnOf(page, 'Backlog').getByText('No tasks').waitFor();
    await expect.poll(async () => (await readTask(consoles.service(), task.id)).status).toBe('in_progress');
  });

  it('moves a card by the keyboard, keeps the focus on it, and announces it', async () => {
    const task = await create({ projectId: 'proj_keys' });
    const { page } = await openBoard('proj_keys');
    await moveByKeyboard(page, task, 'Up for review');
    await page.getByRole('status').getByText(`Moved “${task.title}” to Up for review.`).waitFor();
    await cardIn(page, 'Up for review', task.title).locator('button:focus').waitFor();
    await expect.poll(async () => (await readTask(consoles.service(), task.id)).status).toBe('up_for_review');
    // The focus is still there after the board has been read again.
    await cardIn(page, 'Up for review', task.title).locator('button:focus').waitFor();
  });

  it('puts a card back and says why if a move fails', async () => {
    const task = await create({ projectId: 'proj_gone' });
    const one = await openBoard('proj_gone');
    const { page } = one;
    await cardIn(page, 'Backlog', task.title).waitFor();
    await page.route('**/api/kanban-tasks/tk_*', (route) => {
      const error = { code: 'internal_error', message: 'The table is not available.', requestId: 'r' };
      return route.request().method() === 'PATCH'
        ? route.fulfill({ status: 500, json: { success: false, error } })
        : route.continue();
    });
    await moveByKeyboard(page, task, 'Done');
    await page.getByText('The table is not available.').waitFor();
    await cardIn(page, 'Backlog', task.title).waitFor();
    await columnOf(page, 'Done').getByText('No tasks').waitFor();
    expect(one.problems.splice(0)).toEqual([expect.stringContaining('500')]);
  });

  it('shows both versions of a task that somebody else has changed, and moves it only if the user insists', async () => {
    const task = await create({ projectId: 'proj_both' });
    const { page } = await openBoard('proj_both');
    await cardIn(page, 'Backlog', task.title).waitFor();
    await rename(task, 'Their title');
    await moveByKeyboard(page, task, 'Done');
    const dialog = page.getByRole('dialog', { name: 'The task was changed in the meantime' });
    await dialog.getByRole('row', { name: `Title ${task.title} Their title` }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep theirs' }).click();
    await cardIn(page, 'Backlog', 'Their title').locator('button:focus').waitFor();
    expect((await readTask(consoles.service(), task.id)).status).toBe('backlog');

    await rename(task, 'Their second title');
    await moveByKeyboard(page, { ...task, title: 'Their title' }, 'Done');
    await dialog.getByRole('button', { name: 'Move anyway' }).click();
    await cardIn(page, 'Done', 'Their second title').locator('button:focus').waitFor();
    expect(await readTask(consoles.service(), task.id)).toMatchObject({ status: 'done', title: 'Their second title' });
  });

  it('shows both versions if two browsers move a task at the same time', async () => {
    const task = await create({ projectId: 'proj_race' });
    const first = await openBoard('proj_race');
    const second = await openBoard('proj_race');
    await cardIn(second.page, 'Backlog', task.title).waitFor();
    // The second browser has read the task when the first one moves it.
    await second.page.route('**/api/kanban-tasks/tk_*', async (route) => {
      if (route.request().method() === 'PATCH') {
        await moveByKeyboard(first.page, task, 'Assigned');
        await expect.poll(async () => (await readTask(consoles.service(), task.id)).status).toBe('assigned');
      }
      await route.continue();
    });
    await moveByKeyboard(second.page, task, 'Done');
    const dialog = second.page.getByRole('dialog', { name: 'The task was changed in the meantime' });
    await dialog.getByRole('row', { name: 'Status Backlog Assigned' }).waitFor();
    await dialog.getByRole('button', { name: 'Keep theirs' }).click();
    await cardIn(second.page, 'Assigned', task.title).waitFor();
    expect(second.problems.splice(0)).toEqual([expect.stringContaining('412')]);
  });

  it('creates a task with C, with the filters as its first values, and not while the user types', async () => {
    const { page } = await openBoard('proj_create');
    const dialog = page.getByRole('dialog', { name: 'Create a task' });
    await columnOf(page, 'Backlog').getByText('No tasks').waitFor();
    await page.getByRole('combobox', { name: 'Project' }).press('c');
    await page.getByRole('combobox', { name: 'Project' }).fill('proj_create');
    expect(await dialog.count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Board', level: 1 }).click();
    await page.keyboard.press('c');
    await dialog.getByLabel('Title').fill('Made with C');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByLabel('Description').fill('By **keyboard**.');
    await dialog.getByLabel('Status').selectOption('Assigned');
    await dialog.getByLabel('Agent').selectOption('writer');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await cardIn(page, 'Assigned', 'Made with C').getByText('agent writer').waitFor();
    await columnOf(page, 'Assigned').getByRole('heading', { name: 'Assigned 1' }).waitFor();

    await page.getByRole('button', { name: 'Create a task in QA review' }).click();
    await dialog.getByLabel('Title').fill('Made in its column');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await cardIn(page, 'QA review', 'Made in its column').waitFor();
  });

  it('keeps the filters in the URL', async () => {
    const projectId = 'proj_filters';
    const [urgent, calm] = [await create({ projectId, priority: 'critical' }), await create({ projectId })];
    const other = await create({ priority: 'critical' });
    const { page } = await consoles.open({ token: consoles.service().token, path: '/board' });
    await cardIn(page, 'Backlog', other.title).waitFor();
    await page.getByLabel('Priority').selectOption('critical');
    await page.getByRole('combobox', { name: 'Project' }).fill(projectId);
    await page.keyboard.press('Enter');
    for (const look of [async () => {}, () => page.reload()]) {
      await look();
      await columnOf(page, 'Backlog').getByRole('heading', { name: 'Backlog 1', exact: true }).waitFor();
      await cardIn(page, 'Backlog', urgent.title).waitFor();
      expect(await page.getByLabel('Priority').inputValue()).toBe('critical');
      expect(await page.getByRole('combobox', { name: 'Project' }).inputValue()).toBe(projectId);
    }
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await cardIn(page, 'Backlog', calm.title).waitFor();
  });

  it('has no buttons that change tasks for a token that can only read', async () => {
    const task = await create({ projectId: 'proj_read' });
    const token = await newToken(consoles.service(), 'local', '--scopes', 'tasks:read');
    const { page } = await consoles.open({ token, path: `/board?project=proj_read&task=${task.id}` });
    const panel = page.getByRole('dialog', { name: task.title });
    await panel.getByText('No description').waitFor();
    expect(await panel.getByRole('button').allInnerTexts()).toEqual(['↑', '↓', '×', 'Copy as curl', 'Copy']);
    await page.keyboard.press('Escape');
    await cardIn(page, 'Backlog', task.title).waitFor();
    expect(await page.getByRole('button', { name: /Move|Create/ }).count()).toBe(0);
  });

  it('changes the status, the priority and the agent of a task in its panel', async () => {
    const task = await create({ projectId: 'proj_facts', assignedAgent: 'writer' });
    const { page } = await openBoard('proj_facts', `&task=${task.id}`);
    const panel = page.getByRole('dialog', { name: task.title, exact: true });
    await panel.getByLabel('Status of the task').selectOption('In progress');
    await panel.getByText('changed the status from backlog to in progress').waitFor();
    await panel.getByLabel('Priority of the task').selectOption('critical');
    await panel.getByLabel('Agent of the task').selectOption('None');
    await panel.getByRole('link', { name: 'Open writer' }).waitFor({ state: 'detached' });
    const changed = await readTask(consoles.service(), task.id);
    expect(changed).toMatchObject({ status: 'in_progress', priority: 'critical' });
    expect(changed).not.toHaveProperty('assignedAgent');

    // The panel has read the task before they rename it; then it reads the task to compare.
    await page.route(`**/api/kanban-tasks/${task.id}`, async (route) => {
      if (route.request().method() === 'GET') await rename(task, 'Their title');
      await route.continue();
    });
    await panel.getByLabel('Priority of the task').selectOption('low');
    const conflict = page.getByRole('dialog', { name: 'The task was changed in the meantime' });
    await conflict.getByRole('button', { name: 'Keep theirs' }).and(page.locator(':focus')).click();
    const renamed = page.getByRole('dialog', { name: 'Their title', exact: true });
    await expect.poll(() => renamed.getByLabel('Priority of the task').inputValue()).toBe('critical');
    await page.keyboard.press('Escape');
    await cardIn(page, 'In progress', 'Their title').waitFor();
  });

  it('edits, runs and deletes a task in its panel', async () => {
    const dependency = await create({ projectId: 'proj_panel', status: 'done' });
    const task = await create({ projectId: 'proj_panel', assignedAgent: 'writer', dependsOn: [dependency.id] });
    const { page } = await openBoard('proj_panel', `&task=${task.id}`);
    const panel = (title: string) => page.getByRole('dialog', { name: title, exact: true });
    await panel(task.title).getByRole('link', { name: dependency.title }).waitFor();
    await panel(task.title).getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('A better title');
    await page.getByLabel('Description').fill('With a **description**');
    await page.getByRole('button', { name: 'Save' }).click();
    await panel('A better title').locator('strong').getByText('description').waitFor();

    // A form that is out of date does not overwrite what it does not show.
    await panel('A better title').getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('My title');
    await rename(task, 'Their title');
    await page.getByRole('button', { name: 'Save' }).click();
    const conflict = page.getByRole('dialog', { name: 'The task was changed in the meantime' });
    await conflict.getByRole('row', { name: 'Title A better title Their title' }).waitFor();
    await conflict.getByRole('button', { name: 'Save anyway' }).click();
    await panel('My title').getByText('With a description').waitFor();

    await panel('My title').getByRole('button', { name: 'Run writer' }).click();
    await page.getByLabel('Instruction').fill('Write it');
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await panel('My title').getByText('ended a run').waitFor();
    // Only then the panel has the version of the task that it deletes.
    await expect.poll(() => panel('My title').getByLabel('Status').inputValue()).toBe('up_for_review');

    await panel('My title').getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the task' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete the task' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await columnOf(page, 'Done').getByRole('link', { name: dependency.title }).waitFor();
    await page.getByRole('link', { name: 'My title' }).waitFor({ state: 'detached' });
  });

  it('draws the dependencies of a task and what they depend on, and opens each of them', async () => {
    const projectId = 'proj_graph';
    const shared = await create({ projectId, title: 'Shared', status: 'done' });
    const parts = [];
    for (let nth = 1; nth <= 8; nth++)
      parts.push((await create({ projectId, title: `Part ${nth}.`, dependsOn: nth < 3 ? [shared.id] : [] })).id);
    const task = await create({ projectId, dependsOn: parts });
    const { page } = await openBoard(projectId, `&task=${task.id}`, { viewport: screens.phone });
    const panel = page.getByRole('dialog', { name: task.title });
    await panel.getByText('Starts when 8 tasks are done: Part 1., Part 2., Part 3. and 5 more').waitFor();
    const direct = panel.getByRole('list', { name: 'Dependencies', exact: true }).getByRole('link');
    await panel.getByRole('button', { name: '2 more' }).click();
    await expect.poll(() => direct.count()).toBe(8);
    expect(await panel.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    await panel.getByRole('button', { name: 'Show fewer' }).click();
    await expect.poll(() => direct.count()).toBe(6);
    expect(await panel.locator('.graph path').count()).toBe(8);

    const name = 'Shared done needed by “Part 1.” and “Part 2.”';
    await tabTo(panel.getByRole('link', { name, exact: true }));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Shared' }).getByText('No description').waitFor();
  });

  it('gives a single layer of dependencies the whole width of a phone', async () => {
    const projectId = 'proj_layer';
    const dependency = await create({ projectId });
    const task = await create({ projectId, dependsOn: [dependency.id] });
    const { page } = await openBoard(projectId, `&task=${task.id}`, { viewport: screens.phone });
    const panel = page.getByRole('dialog', { name: task.title });
    const leftOf = async (element: Locator) => (await element.boundingBox())?.x;
    const node = panel.getByRole('link', { name: `${dependency.title} backlog` });
    expect(await leftOf(node)).toBe(await leftOf(panel.getByRole('heading', { name: 'Blocked by 1 of 1' })));
  });

  it('opens the tasks above and below in the column by K and J, also those that the column has yet to read', async () => {
    const projectId = 'proj_neighbours';
    const tasks: Task[] = [];
    for (let nth = 0; nth < 53; nth++) tasks.unshift(await create({ projectId, priority: nth === 6 ? 'high' : 'low' }));
    const [first, second, third, ...others] = tasks.slice(44) as [Task, Task, Task, ...Task[]];
    // Here the column has other neighbours.
    const { page } = await openBoard(projectId, '&priority=low', { viewport: { width: 1_100, height: 800 } });
    await cardIn(page, 'Backlog', (tasks[0] as Task).title).waitFor();
    await page.goto(`${consoles.service().url}/#/board?project=${projectId}&task=${first.id}`);
    const panelOf = ({ title }: Task) => page.getByRole('dialog', { name: title, exact: true });
    await panelOf(first).getByText('No description').waitFor();
    // The column shows the card of the open task, and reads the pages that come into view with it.
    const isRead = ({ id }: Task) => page.locator(`[data-card="${id}"] a`).waitFor({ state: 'attached' });
    await isRead(second);
    await page.keyboard.press('j');
    await panelOf(second).waitFor();
    await panelOf(second).getByRole('button', { name: 'Task below' }).click();
    await panelOf(third).waitFor();
    // The button still has the focus.
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await panelOf(second).waitFor();
    await page.keyboard.press('j');
    await panelOf(third).waitFor();
    await page.keyboard.press('k');
    await panelOf(second).waitFor();
    for (const task of [third, ...others]) {
      await isRead(task);
      await page.keyboard.press('j');
      await panelOf(task).waitFor();
    }
    // The panel covers the board, so C creates no task. Letters in a field are text.
    await page.keyboard.press('c');
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.keyboard.press('k');
    await expect.poll(() => page.getByLabel('Title').inputValue()).toContain('k');
    await page.goBack();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('works by the keyboard only, from the board to the panel and back', async () => {
    const task = await create({ projectId: 'proj_tab' });
    const { page } = await openBoard('proj_tab');
    await cardIn(page, 'Backlog', task.title).waitFor();
    const link = page.getByRole('link', { name: task.title });
    for (let pressed = 0; pressed < 30 && !(await link.evaluate((one) => one.matches(':focus'))); pressed++)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: task.title }).getByText('No description').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('c');
    await page.getByLabel('Title').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Typed');
    await page.keyboard.press('Enter');
    await cardIn(page, 'Backlog', 'Typed').waitFor();
  });

  it('fits on a phone, where columns are side by side in a scroll of their own', async () => {
    const claimed = await create({ projectId: 'proj_phone', title: 'Indivisible'.repeat(20) });
    const dependsOn = [claimed.id];
    const task = await create({ projectId: 'proj_phone', title: 'Unbreakable'.repeat(20), dependsOn });
    const claim = { params: { id: claimed.id }, body: { worker: 'w'.repeat(100) } };
    successOf(await consoles.service().api.claimTask(claim));
    const { page } = await openBoard('proj_phone', '', { viewport: screens.phone });
    await cardIn(page, 'Backlog', task.title).waitFor();
    const overflowOf = (part: Locator) => part.evaluate((element) => element.scrollWidth - element.clientWidth);
    expect(await overflowOf(page.locator('main'))).toBe(0);
    await columnOf(page, 'Done').scrollIntoViewIfNeeded();
    await page.getByRole('link', { name: task.title }).click();
    const panel = page.getByRole('dialog', { name: task.title });
    await panel.getByText('No description').waitFor();
    expect(await overflowOf(panel)).toBe(0);
    await panel.getByText('Starts when 1 task is done').getByRole('link').click();
    const panelOfClaimed = page.getByRole('dialog', { name: claimed.title });
    await panelOfClaimed.getByRole('region', { name: 'Claim' }).waitFor();
    expect(await overflowOf(panelOfClaimed)).toBe(0);
  });

  it('shows hostile titles and descriptions as text', async () => {
    const title = '<img src=x onerror=alert(1)>';
    const description = [
      '<script>alert(1)</script> <img src=x onerror=alert(1)>',
      '[script](javascript:alert(1)) [data](data:text/html,x) [relative](/docs) [page](https://example.com/)',
      '[entity](javascript&colon;alert(1)) [tab](java&#9;script:alert(1)) ![picture](https://example.com/x.png)',
      '<a href="javascript:alert(1)" onclick="alert(1)">raw</a>',
      '&lt;b&gt; **bold** &constructor;',
    ].join('\n\n');
    await create({ projectId: 'proj_hostile', title, description });
    const quotes = await create({ projectId: 'proj_hostile', description: '>'.repeat(9_000) });
    const lists = await create({ projectId: 'proj_hostile', description: `${'- '.repeat(2_000)}end` });
    // Each row has as many columns as the header.
    const table = `${'a|'.repeat(1_500)}a\n${'-|'.repeat(1_500)}-\n${'b\n'.repeat(1_800)}end`;
    const wide = await create({ projectId: 'proj_hostile', description: table });
    const { page } = await openBoard('proj_hostile');
    await page.getByRole('link', { name: title }).click();
    const panel = page.getByRole('dialog', { name: title });
    const text = panel.locator('.markdown');
    for (const shown of [
      '<script>alert(1)</script> <img src=x onerror=alert(1)>',
      '<b> bold &constructor;',
      'onclick="alert(1)"',
    ])
      await text.getByText(shown).waitFor();
    expect(await page.locator('img, script[src=x], .markdown :is(script, iframe), [onclick], [onerror]').count()).toBe(
      0,
    );
    const targets = await text.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(targets).toEqual(['https://example.com/', 'https://example.com/x.png']);
    for (const [deep, shown] of [
      [quotes, '>>>>'],
      [lists, 'end'],
      [wide, 'end'],
    ] as const) {
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: deep.title, exact: true }).click();
      const plain = page.getByRole('dialog', { name: deep.title }).locator('.markdown');
      await plain.getByText(shown).waitFor();
      await plain.getByText('It is shown as it was written.').waitFor();
      expect(await plain.locator('*').count()).toBe(2);
    }
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});
