import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { NewTask, Task } from '../../../../lib/client/operations.ts';
import { successOf } from '../../../api.ts';
import { createAgent, newScript, readTask } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, useConsole } from '../console.ts';

const script = newScript([
  { match: 'impossible', error: 'ValidationException' },
  { match: 'for an hour', text: 'Done.', delayMs: 600_000 },
  {
    match: 'Pass on',
    step: 1,
    tools: [{ name: 'create_task', input: { title: 'Passed on', status: 'assigned', assignedAgent: 'next' } }],
  },
]);

describe.runIf(program)('tasks of agents that start by themselves', () => {
  const consoles = useConsole({ environment: { MODEL_SCRIPT: script } });
  const api = () => consoles.service().api;
  const create = async (fields: Partial<NewTask> & Pick<NewTask, 'title'>) =>
    successOf<Task>(await api().createTask({ body: fields }));
  const openTask = ({ id }: Pick<Task, 'id'>) =>
    consoles.open({ token: consoles.service().token, path: `/board?task=${id}` });
  const panelOf = (page: Page, { title }: Pick<Task, 'title'>) =>
    page.getByRole('dialog', { name: title, exact: true });

  /** Waits until the service says the state of a task. */
  const expectState = (id: string, state: object) =>
    expect.poll(async () => (await readTask(consoles.service(), id)).autoRun, { timeout: 10_000 }).toMatchObject(state);

  it('say what they wait for, and follow a change of the agent', async () => {
    await createAgent(consoles.service(), 'busy', { autoRun: true });
    const long = await create({ title: 'Work for an hour', assignedAgent: 'busy' });
    await expect.poll(async () => (await readTask(consoles.service(), long.id)).status).toBe('in_progress');
    const second = await create({ title: 'Second', assignedAgent: 'busy' });
    const blocked = await create({ title: 'Blocked', assignedAgent: 'busy', dependsOn: [second.id] });
    const { page } = await openTask(second);
    await panelOf(page, second).getByText('Starts by itself now, or when another run of its agent ends.').waitFor();
    await page.goto(`${consoles.service().url}/#/board?task=${blocked.id}`);
    await panelOf(page, blocked).getByText('Starts by itself when 1 task is done: Second').waitFor();

    await panelOf(page, blocked).getByRole('link', { name: 'Open busy' }).click();
    await page.getByRole('link', { name: 'Prompt' }).click();
    await page.getByLabel('Starts by itself').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The agent is saved.').waitFor();
    await page.goto(`${consoles.service().url}/#/board?task=${blocked.id}`);
    await panelOf(page, blocked).getByText('Starts when 1 task is done: Second').waitFor();
  });

  it('lead to the run that failed, which says that it started by itself', async () => {
    await createAgent(consoles.service(), 'failing', { autoRun: true });
    const task = await create({ title: 'Do the impossible', assignedAgent: 'failing' });
    await expectState(task.id, { state: 'stopped' });
    const { page } = await openTask(task);
    await panelOf(page, task).getByText('Does not start again after the run that failed: ').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await panelOf(page, task).getByRole('link', { name: 'the run that failed' }).click();
    await page.getByText('Started by itself', { exact: true }).waitFor();
  });

  it('say that a person has to start what an agent without delegate has passed on', async () => {
    await createAgent(consoles.service(), 'next', { autoRun: true });
    await createAgent(consoles.service(), 'first', { autoRun: true, capabilities: ['tasks.write'] });
    await create({ title: 'Pass on', assignedAgent: 'first' });
    const passedOn = async () => (await api().listTasks({ query: 'assigned_agent=next' })) as never;
    await expect.poll(async () => successOf<Task[]>(await passedOn()).length, { timeout: 10_000 }).toBe(1);
    const [task] = successOf<[Task]>(await passedOn());
    await expectState(task.id, { state: 'held', reason: 'no_delegate' });
    const { page } = await openTask(task);
    await panelOf(page, task)
      .getByText('A person has to start this task: the agent that passed it on may not delegate.')
      .waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});
