import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { NewTask, Task } from '../../../../lib/client/operations.ts';
import { successOf } from '../../../api.ts';
import { readTask } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';

describe.runIf(program)('tasks and projects that exist', () => {
  const consoles = useConsole();
  const api = () => consoles.service().api;
  const create = async (fields: Partial<NewTask> & Pick<NewTask, 'title'>) =>
    successOf<Task>(await api().createTask({ body: fields }));

  /** Waits until a new task is found: its words are written from the stream. */
  const expectFound = ({ id, title }: Task) =>
    expect
      .poll(async () => successOf<Task[]>(await api().searchTasks({ query: `q=${encodeURIComponent(title)}` })))
      .toContainEqual(expect.objectContaining({ id }));

  const open = (path: string, viewport = screens.desktop) =>
    consoles.open({ token: consoles.service().token, path }, { viewport });
  const dependenciesOf = (page: Page) => page.getByRole('combobox', { name: 'Tasks that must be done first' });
  const optionOf = (page: Page, name: string) => page.getByRole('option', { name });

  it('are found in the command menu by the beginnings of words, once the user stops typing', async () => {
    const task = await create({ title: 'Paint the <b>fence</b>', status: 'qa_review' });
    await expectFound(task);
    const { page } = await open('/events');
    const searched: (string | null)[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/api/kanban-tasks/search') searched.push(searchParams.get('q'));
    });
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    await page.clock.install();
    await page.keyboard.press('Control+k');
    const menu = page.getByRole('dialog', { name: 'Command menu' });
    await menu.locator('input:focus').waitFor();
    await page.keyboard.type('fen pain');
    await page.clock.runFor(300);
    await menu.getByRole('option', { name: 'Paint the <b>fence</b> QA review' }).waitFor();
    expect(searched).toEqual(['fen pain']);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: task.title }).waitFor();
  });

  it('are chosen as the dependencies and the project of a new task', async () => {
    const first = await create({ title: 'Order the colours', projectId: 'proj_house' });
    const second = await create({ title: 'Order the brushes', projectId: 'proj_garden' });
    await expectFound(first);
    await expectFound(second);
    const { page } = await open('/board?create=backlog');
    await page.getByLabel('Title').fill('Paint the house');
    await dependenciesOf(page).fill('o');
    await page.getByText('Enter the beginning of a word.').waitFor();
    await dependenciesOf(page).fill('nothing');
    await page.getByText('No task has these words.').waitFor();
    await dependenciesOf(page).fill('col ord');
    await optionOf(page, 'Order the colours').waitFor();
    await page.keyboard.press('Enter');
    // An id works too.
    await dependenciesOf(page).fill(second.id);
    await optionOf(page, 'Order the brushes').click();
    await page.getByRole('button', { name: 'Remove “Order the brushes”' }).waitFor();
    await page.getByLabel('Title').focus();
    await page.getByRole('listbox').waitFor({ state: 'detached' });
    expect(await accessibilityProblems(page)).toEqual([]);

    const project = page.getByRole('combobox', { name: 'Project' });
    await project.click();
    await optionOf(page, 'proj_garden').waitFor();
    await project.fill('hous');
    await optionOf(page, 'proj_garden').waitFor({ state: 'detached' });
    await optionOf(page, 'proj_house').click();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const [made] = successOf<[Task]>(await api().listTasks({ query: 'project_id=proj_house' }));
    expect(made).toMatchObject({ title: 'Paint the house', dependsOn: [first.id, second.id] });
  });

  it('are changed in the form of a task, which does not offer the task itself', async () => {
    const old = await create({ title: 'Sand the door' });
    const next = await create({ title: 'Clean the door' });
    const task = await create({ title: 'Paint the door', dependsOn: [old.id], projectId: 'proj_door' });
    for (const one of [old, next, task]) await expectFound(one);
    const { page } = await open(`/board?task=${task.id}`, screens.phone);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Remove “Sand the door”' }).click();
    await dependenciesOf(page).fill('door');
    await optionOf(page, 'Clean the door').waitFor();
    expect(await optionOf(page, 'Paint the door').count()).toBe(0);
    await optionOf(page, 'Clean the door').click();
    // A new project needs no task that has it.
    await page.getByRole('combobox', { name: 'Project' }).fill('proj_new');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'proj_new' }).waitFor();
    const changed = await readTask(consoles.service(), task.id);
    expect(changed.dependsOn.map(({ id }) => id)).toEqual([next.id]);
    expect(changed.projectId).toBe('proj_new');
  });

  it('close by Escape without the panel, which keeps its form', async () => {
    const task = await create({ title: 'Escape', projectId: 'proj_escaped' });
    const { page } = await open(`/board?task=${task.id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await dependenciesOf(page).fill('zzz');
    await page.getByText('No task has these words.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('No task has these words.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).waitFor();
    // Once they are closed, Escape closes the panel, and removes nothing before that.
    await page.getByRole('combobox', { name: 'Project' }).last().focus();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await readTask(consoles.service(), task.id)).toHaveProperty('projectId', 'proj_escaped');
  });

  it('filter the board at once when a project is chosen', async () => {
    await create({ title: 'In the shed', projectId: 'proj_shed' });
    const { page } = await open('/board');
    await page.locator('.card').first().waitFor();
    await page.getByRole('combobox', { name: 'Project' }).click();
    await optionOf(page, 'proj_shed').click();
    await page.waitForURL('**/#/board?project=proj_shed');
    await expect.poll(() => page.locator('.card').count()).toBe(1);
  });
});
