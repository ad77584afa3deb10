import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Task } from '../../../lib/client/operations.ts';
import { dataOf, successOf } from '../../api.ts';
import { createAgent, newToken, readTask } from '../../journeys/requests.ts';
import { accessibilityProblems } from './axe.ts';
import { openAccount, program, useConsole } from './console.ts';

describe.runIf(program)('what is entered and not saved', () => {
  const consoles = useConsole();
  const api = () => consoles.service().api;
  const open = (path: string) => consoles.open({ token: consoles.service().token, path });
  const create = async (title: string) => successOf<Task>(await api().createTask({ body: { title } }));
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const goTo = async (page: Page, name: string) => {
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };

  it('stays in the editor of an agent while other screens are shown, and after a reload', async () => {
    await createAgent(consoles.service(), 'drafted', { systemPrompt: 'Before.' });
    const { page } = await open('/agents/drafted?tab=prompt');
    const prompt = page.getByLabel(/^System prompt/);
    await prompt.fill('A long prompt.');
    await goTo(page, 'Board');
    await page.goBack();
    await page.getByText('1 field changed, kept in this tab').waitFor();
    expect(await prompt.inputValue()).toBe('A long prompt.');
    await page.reload();
    await page.getByText('1 field changed, kept in this tab').waitFor();
    expect(await prompt.inputValue()).toBe('A long prompt.');
    await button(page, 'Save').click();
    await page.getByText('No changes').waitFor();
    await page.reload();
    await page.getByText('No changes').waitFor();
    expect(await prompt.inputValue()).toBe('A long prompt.');
  });

  it('compares the draft of an agent with what another user has saved meanwhile', async () => {
    await createAgent(consoles.service(), 'changed', { systemPrompt: 'Before.' });
    const { page, problems } = await open('/agents/changed?tab=prompt');
    await page.getByLabel(/^System prompt/).fill('Mine.');
    await goTo(page, 'Runs');
    successOf(await api().updateAgent({ params: { name: 'changed' }, body: { systemPrompt: 'Theirs.' } }));
    await page.goBack();
    await button(page, 'Save').click();
    await page.getByRole('heading', { name: 'Another user has changed the agent' }).waitFor();
    await button(page, 'Discard your changes').click();
    await page.getByText('No changes').waitFor();
    expect(await page.getByLabel(/^System prompt/).inputValue()).toBe('Theirs.');
    expect(problems.splice(0)).toEqual([expect.stringContaining('412')]);
  });

  it('stays in the form of a new task after Escape and on other screens, until the task is created', async () => {
    const projectId = 'proj_drafts';
    const { title } = await create('Prerequisite of a draft');
    const { page } = await open('/board');
    const dialog = page.getByRole('dialog', { name: 'Create a task' });
    await button(page, 'Create a task').click();
    await dialog.getByLabel('Title').fill('Drafted ');
    await dialog.getByLabel('Description').fill('Line one\nline two');
    await dialog.getByLabel('Priority').selectOption('high');
    await dialog.getByLabel('Project').fill(projectId);
    await dialog.getByLabel('Tasks that must be done first').fill('prerequisite');
    await page.getByRole('option', { name: title }).click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await goTo(page, 'Agents');
    await page.reload();
    await goTo(page, 'Board');

    // The column decides the status; all else is the draft.
    await page
      .getByRole('region', { name: 'Assigned', exact: true })
      .getByRole('button', { name: 'Create a task in Assigned' })
      .click();
    await dialog.getByText('Your draft is kept in this tab.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await dialog.getByLabel('Title').inputValue()).toBe('Drafted ');
    await button(page, 'Create').click();
    await dialog.waitFor({ state: 'detached' });
    const [created] = dataOf<Task[]>(await api().listTasks({ query: `project_id=${projectId}` }));
    expect(created).toMatchObject({ title: 'Drafted', status: 'assigned', priority: 'high' });
    const { description, dependsOn } = await readTask(consoles.service(), created?.id ?? '');
    expect({ description, dependsOn }).toMatchObject({ description: 'Line one\nline two', dependsOn: [{ title }] });
    await page.keyboard.press('c');
    expect(await dialog.getByLabel('Title').inputValue()).toBe('');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  it('is dropped by Discard', async () => {
    const { page } = await open('/agents?create=agent');
    const dialog = page.getByRole('dialog', { name: 'Create an agent' });
    await dialog.getByLabel('System prompt').fill('You write.');
    await dialog.getByLabel('Category').selectOption('research');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await button(page, 'Create agent').click();
    expect(await dialog.getByLabel('System prompt').inputValue()).toBe('You write.');
    expect(await dialog.getByLabel('Category').inputValue()).toBe('research');
    await dialog.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
    await button(page, 'Create agent').click();
    expect(await dialog.getByLabel('System prompt').inputValue()).toBe('');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('stays in the panel of a task: a change, a comment and a review', async () => {
    const { id, title } = await create('Panelled');
    const other = await create('Another panel');
    successOf(await api().updateTask({ params: { id }, body: { status: 'up_for_review' } }));
    const { page } = await open(`/board?task=${id}`);
    const panel = (name = title) => page.getByRole('dialog', { name, exact: true });
    const card = (name: string) => page.locator('.card').filter({ hasText: name });
    const field = (part: string, name?: string) => panel(name).getByRole('region', { name: part }).getByRole('textbox');
    await field('Comments').fill('A comment');
    await field('Review').fill('A review');
    await card(other.title).click();
    expect(await field('Comments', other.title).inputValue()).toBe('');
    await card(title).click();
    expect(await field('Comments').inputValue()).toBe('A comment');
    expect(await field('Review').inputValue()).toBe('A review');

    await panel().getByRole('button', { name: 'Edit' }).click();
    await panel().getByLabel('Description').fill('Described');
    await page.keyboard.press('Escape');
    await panel().waitFor({ state: 'detached' });
    await card(title).click();
    await panel().getByRole('button', { name: 'Discard' }).waitFor();
    expect(await panel().getByLabel('Description').inputValue()).toBe('Described');
    await panel().getByRole('button', { name: 'Save' }).click();
    await panel().getByText('Described').waitFor();
    await expect.poll(async () => (await readTask(consoles.service(), id)).description).toBe('Described');
    await panel().getByRole('button', { name: 'Edit' }).click();
    await panel().getByLabel('Description').fill('A mistake');
    await panel().getByRole('button', { name: 'Discard' }).click();
    await panel().getByRole('button', { name: 'Edit' }).waitFor();
    expect((await readTask(consoles.service(), id)).description).toBe('Described');
  });

  it.each([
    ['another token of the organization', 'local'],
    ['another organization', 'elsewhere'],
  ])('is not shown to %s', async (_, organization) => {
    const { url, token } = consoles.service();
    const { page } = await open('/board?create=backlog');
    const field = page.getByRole('dialog', { name: 'Create a task' }).getByLabel('Title');
    const signInAs = async (other: string) => {
      await page.keyboard.press('Escape');
      await openAccount(page);
      await button(page, 'Sign out').click();
      await page.goto(`${url}/#token=${other}`);
      await page.getByRole('navigation', { name: 'Screens' }).waitFor();
      await page.goto(`${url}/#/board?create=backlog`);
    };
    await field.fill('Secret plan');
    await signInAs(await newToken(consoles.service(), organization));
    expect(await field.inputValue()).toBe('');
    await signInAs(token);
    expect(await field.inputValue()).toBe('Secret plan');
  });
});
