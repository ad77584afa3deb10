import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { NewTask, TaskDetail } from '../../../../lib/client/operations.ts';
import { successOf } from '../../../api.ts';
import { createAgent, newToken, readTask } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, useConsole } from '../console.ts';

describe.runIf(program)('the keys of the console', () => {
  const consoles = useConsole();

  const create = async (title: string, fields: Partial<NewTask> = {}) =>
    successOf<{ id: string }>(await consoles.service().api.createTask({ body: { title, ...fields } })).id;

  const openBoard = (project: string, token = consoles.service().token) =>
    consoles.open({ token, path: `/board?project=${project}` });

  const cardOf = (page: Page, title: string) => page.locator('.card').filter({ hasText: title });

  /** Waits until the card of a task has the focus. */
  const focusOn = (page: Page, title: string) =>
    cardOf(page, title).and(page.locator(':focus-within')).waitFor({ state: 'attached' });

  /** Presses a key that opens a list of values, and chooses the first one that has what is typed. */
  async function choose(page: Page, key: string, dialog: string, typed: string): Promise<void> {
    await page.keyboard.press(key);
    await page.getByRole('combobox', { name: dialog }).and(page.locator(':focus')).waitFor();
    await page.keyboard.type(typed);
    await page.getByRole('option').nth(1).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: dialog }).waitFor({ state: 'detached' });
  }

  const expectTask = (id: string, fields: Partial<TaskDetail>) =>
    expect.poll(() => readTask(consoles.service(), id)).toMatchObject(fields);

  beforeAll(() => createAgent(consoles.service(), 'writer'));

  it('go from card to card, and change the task of the focused card and of the open panel', async () => {
    const projectId = 'proj_change';
    const lower = await create('Lower', { projectId });
    await create('Upper', { projectId });
    await create('Beside', { projectId, status: 'qa_review' });
    const { page } = await openBoard(projectId);
    await cardOf(page, 'Upper').getByRole('link').focus();
    for (const [key, title] of [
      ['ArrowUp', 'Upper'],
      ['ArrowRight', 'Beside'],
      ['ArrowLeft', 'Upper'],
      ['ArrowDown', 'Lower'],
    ] as const) {
      await page.keyboard.press(key);
      await focusOn(page, title);
    }

    await page.keyboard.press('s');
    await page.getByRole('option', { name: 'Backlog current' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await focusOn(page, 'Lower');
    await choose(page, 'a', 'Agent of “Lower”', 'writ');
    await expectTask(lower, { assignedAgent: 'writer' });
    await focusOn(page, 'Lower');
    await choose(page, 'p', 'Priority of “Lower”', 'crit');
    await expectTask(lower, { priority: 'critical' });
    await choose(page, 's', 'Status of “Lower”', 'in p');
    await expectTask(lower, { status: 'in_progress' });
    await page.getByRole('region', { name: 'In progress' }).locator('.card:focus-within').waitFor();

    await page.keyboard.press('e');
    await page.getByRole('textbox', { name: 'Title' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('textbox', { name: 'Description' }).fill('More');
    await page.keyboard.press('Control+Enter');
    const panel = page.getByRole('dialog', { name: 'Lower' });
    await panel.getByRole('button', { name: 'Edit' }).waitFor();
    await expectTask(lower, { description: 'More' });

    // Letters are for the field that has the focus.
    await panel.getByRole('textbox', { name: 'Comment' }).pressSequentially('spaex?');
    await page.keyboard.press('Control+Enter');
    await panel.getByRole('region', { name: 'Comments' }).getByText('spaex?', { exact: true }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(1);
    await panel.getByRole('heading', { name: 'Lower' }).click();
    await choose(page, 'p', 'Priority of “Lower”', 'low');
    await expectTask(lower, { priority: 'low' });
    await panel.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('dialog', { name: 'Delete the task?' }).waitFor();
    await page.keyboard.press('Control+Enter');
    await cardOf(page, 'Lower').waitFor({ state: 'detached' });
  });

  it('are listed, and those that type a character can be turned off', async () => {
    const { page } = await openBoard('proj_listed');
    const create = page.getByRole('button', { name: 'Create a task', exact: true });
    await create.waitFor();
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keys' });
    await list.getByRole('region', { name: 'Board' }).getByText('Assign it to an agent').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    const single = list.getByRole('checkbox', { name: 'Single keys' });
    await single.uncheck();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    expect(await create.getAttribute('aria-keyshortcuts')).toBeNull();
    await page.reload();
    await create.waitFor();
    await page.keyboard.press('c');
    await page.keyboard.press('?');

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('list keys');
    await page.keyboard.press('Enter');
    await single.check();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    expect(await create.getAttribute('aria-keyshortcuts')).toBe('C');
    await page.keyboard.press('c');
    await page.getByRole('textbox', { name: 'Title' }).fill('Created by keys');
    await page.getByRole('textbox', { name: 'Description' }).press('Control+Enter');
    await cardOf(page, 'Created by keys').waitFor();
  });

  it('change nothing with a token that must not', async () => {
    await create('Read only', { projectId: 'proj_read' });
    const scopes = ['--scopes', 'tasks:read,agents:read,webhooks:read'];
    const { page } = await openBoard('proj_read', await newToken(consoles.service(), 'local', ...scopes));
    await cardOf(page, 'Read only').getByRole('link').focus();
    for (const key of ['s', 'p', 'a', 'e', 'x', 'c']) await page.keyboard.press(key);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Go to another card').waitFor();
    expect(await page.getByText('Assign it to an agent').count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(1);
    expect(await page.locator('.card').getByRole('checkbox').count()).toBe(0);
  });
});
