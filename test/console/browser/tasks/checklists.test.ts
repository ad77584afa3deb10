import type { Page, Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Task } from '../../../../lib/client/operations.ts';
import { successOf } from '../../../api.ts';
import { newToken, readTask } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';

const list = '- [ ] first\n- [x] second\n  - [ ] below';

describe.runIf(program)('the checkboxes in the description of a task', () => {
  const consoles = useConsole();
  const api = () => consoles.service().api;
  const create = async (description: string) =>
    successOf<Task>(await api().createTask({ body: { title: 'Checked', description } }));
  const rewrite = async ({ id }: Task, description: string) =>
    successOf(await api().updateTask({ params: { id }, body: { description } }));
  const descriptionOf = async ({ id }: Task) => (await readTask(consoles.service(), id)).description;
  const open = async ({ id }: Task, ...options: Parameters<typeof consoles.open>) => {
    const [{ token } = { token: consoles.service().token }, ...rest] = options;
    const one = await consoles.open({ token, path: `/board?task=${id}` }, ...rest);
    await one.page.getByRole('dialog').getByText('created the task').waitFor();
    return one;
  };
  const textIn = (page: Page) => page.getByRole('region', { name: 'Description', exact: true });
  const boxIn = (page: Page, name: string) => textIn(page).getByRole('checkbox', { name, exact: true });
  /** Returns the changes of tasks that a page requests from now on. */
  const changesOf = (page: Page) => {
    const changes: Request[] = [];
    page.on('request', (request) => request.method() === 'PATCH' && changes.push(request));
    return changes;
  };

  it('are ticked by one request each, which changes nothing that the user has not seen', async () => {
    const task = await create(list);
    const { page } = await open(task);
    const changes = changesOf(page);
    await boxIn(page, 'first').check();
    await expect.poll(() => descriptionOf(task)).toBe('- [x] first\n- [x] second\n  - [ ] below');
    await boxIn(page, 'second').focus();
    await page.keyboard.press('Space');
    await expect.poll(() => descriptionOf(task)).toBe('- [x] first\n- [ ] second\n  - [ ] below');
    expect(changes.map((request) => request.postDataJSON())).toEqual([
      { description: '- [x] first\n- [x] second\n  - [ ] below' },
      { description: '- [x] first\n- [ ] second\n  - [ ] below' },
    ]);
    for (const request of changes) expect(await request.headerValue('If-Match')).toMatch(/^"/);
    expect(await boxIn(page, 'second').and(page.locator(':focus')).count()).toBe(1);
  });

  it('are ticked one after the other while the user goes on', async () => {
    const task = await create(list);
    const { page } = await open(task);
    const changes = changesOf(page);
    await boxIn(page, 'first').check();
    await boxIn(page, 'below').check();
    await boxIn(page, 'second').uncheck();
    await expect.poll(() => descriptionOf(task)).toBe('- [x] first\n- [ ] second\n  - [x] below');
    expect(changes).toHaveLength(3);
    await page.reload();
    await textIn(page).waitFor();
    expect(await boxIn(page, 'below').isChecked()).toBe(true);
  });

  it('are ticked in what another user has made of the description meanwhile', async () => {
    const task = await create(list);
    const { page, problems } = await open(task);
    const changes = changesOf(page);
    await page.route(
      `**/kanban-tasks/${task.id}`,
      async (route) => {
        await rewrite(task, `- [x] new\n${list}`);
        await route.continue();
      },
      { times: 1 },
    );
    await boxIn(page, 'first').check();
    await expect.poll(() => descriptionOf(task)).toBe('- [x] new\n- [x] first\n- [x] second\n  - [ ] below');
    await boxIn(page, 'new').waitFor();
    expect(await boxIn(page, 'first').isChecked()).toBe(true);
    expect(changes).toHaveLength(2);
    expect(problems.splice(0)).toEqual([expect.stringContaining('412')]);
  });

  it('are not ticked if they are not there any more, with the reason', async () => {
    const task = await create(list);
    const { page, problems } = await open(task);
    await page.route(
      `**/kanban-tasks/${task.id}`,
      async (route) => {
        await rewrite(task, '- [ ] other');
        await route.continue();
      },
      { times: 1 },
    );
    await boxIn(page, 'first').check();
    await textIn(page).getByRole('alert').getByText('has no checkbox “first” any more').waitFor();
    await boxIn(page, 'other').waitFor();
    expect(await descriptionOf(task)).toBe('- [ ] other');
    expect(problems.splice(0)).toEqual([expect.stringContaining('412')]);
  });

  it('are as before if the service refuses the change, with the reason', async () => {
    const task = await create(list);
    const { page, problems } = await open(task);
    successOf(await api().claimTask({ params: { id: task.id }, body: { worker: 'bot' } }));
    await page.getByRole('heading', { name: 'Claimed by bot' }).waitFor();
    await boxIn(page, 'first').click();
    await textIn(page).getByRole('alert').getByText('“bot” has claimed the task').waitFor();
    await expect.poll(() => boxIn(page, 'first').isChecked()).toBe(false);
    expect(await descriptionOf(task)).toBe(list);
    expect(problems.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  it('cannot be ticked with a token that only reads, nor in comments', async () => {
    const task = await create(list);
    successOf(await api().commentOnTask({ params: { id: task.id }, body: { text: '- [ ] said' } }));
    const token = await newToken(consoles.service(), 'local', '--scopes', 'tasks:read');
    const { page } = await open(task, { token });
    const states = (part: string) =>
      page
        .getByRole('region', { name: part, exact: true })
        .getByRole('checkbox')
        .evaluateAll((boxes) => boxes.map((box) => box.disabled));
    expect(await states('Description')).toEqual([true, true, true]);
    await page.getByText('said', { exact: true }).waitFor();
    expect(await states('Comments')).toEqual([true]);
    expect(await boxIn(page, 'done').count()).toBe(1);
  });

  it.each([
    ['light', screens.desktop],
    ['dark', screens.phone],
  ] as const)('are aligned, and headings and tables have their places (%s)', async (colorScheme, viewport) => {
    const columns = Array.from({ length: 12 }, (_, at) => `column${at}`).join('|');
    const table = `|${columns}|\n|${'-|'.repeat(12)}\n|${columns}|`;
    const task = await create(
      `Goal\n\n## Steps\n\n${list}\n- plain\n\n1. [ ] loose\n\n   More.\n\n### Data\n\n${table}`,
    );
    const { page } = await open(task, { token: consoles.service().token }, { colorScheme, viewport });
    await textIn(page).scrollIntoViewIfNeeded();
    const boxOf = async (name: string) => (await boxIn(page, name).boundingBox()) ?? expect.fail('not shown');
    const itemOf = (text: string) => textIn(page).locator('li').filter({ hasText: text }).last();
    /** Returns the left end and the middle of the first line of an item. */
    const lineOf = (text: string) =>
      itemOf(text).evaluate((item) => {
        const nodes = item.ownerDocument.createTreeWalker(item, 4);
        const line = item.ownerDocument.createRange();
        line.selectNodeContents(nodes.nextNode() ?? item);
        const { left, top, height } = line.getClientRects()[0] as { left: number; top: number; height: number };
        return { left, middle: top + height / 2 };
      });
    const [first, second, below] = [await boxOf('first'), await boxOf('second'), await boxOf('below')];
    expect(second.x).toBe(first.x);
    expect(below.x).toBeGreaterThan(first.x);
    for (const name of ['first', 'loose', 'below']) {
      const [box, line] = [await boxOf(name), await lineOf(name)];
      expect(box.x + box.width, name).toBeLessThan(line.left);
      expect(Math.abs(box.y + box.height / 2 - line.middle), name).toBeLessThanOrEqual(2);
    }
    const goal = (await textIn(page).getByText('Goal').boundingBox()) ?? expect.fail('not shown');
    const heading = (await textIn(page).getByText('Data', { exact: true }).boundingBox()) ?? expect.fail('not shown');
    const above = (await itemOf('More.').boundingBox()) ?? expect.fail('not shown');
    expect(goal.height).toBe(20);
    expect(heading.y - (above.y + above.height)).toBeLessThanOrEqual(20);
    const overflowOf = (selector: string) =>
      page.locator(selector).evaluate((one) => one.scrollWidth - one.clientWidth);
    expect(await overflowOf('.markdown .table')).toBeGreaterThan(0);
    expect(await overflowOf('.side-panel')).toBe(0);
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});
