import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { successOf } from '../../../api.ts';
import { attemptsOf, createAgent, createTask, endOf, execute, newToken } from '../../../journeys/requests.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import { accessibilityProblems } from '../axe.ts';
import { openAccount, program, screens, useConsole } from '../console.ts';

describe.runIf(program)('the titles of the console', () => {
  const consoles = useConsole();
  const titleOf = (page: Page) => expect.poll(() => page.title());

  it('name each screen and what it shows', async () => {
    const { api, token, url } = consoles.service();
    const agent = await createAgent(consoles.service(), 'writer', { displayName: 'Demo writer' });
    const taskId = await createTask(consoles.service(), 'Draw the landing page');
    const id = await execute(consoles.service(), agent, 'Draw it', { taskId });
    await endOf(consoles.service(), agent, id);
    const { page } = await consoles.open({ token: undefined });
    await titleOf(page).toBe('Sign in · Crewboard');
    await page.goto(`${url}/#token=${token}`);
    await titleOf(page).toBe('Overview · Crewboard');
    const pages: [path: string, title: string][] = [
      ['/board', 'Board'],
      [`/board?task=${taskId}`, 'Task: Draw the landing page'],
      ['/board', 'Board'],
      ['/runs', 'Runs'],
      [`/runs/${agent}/${id}`, 'Run: Draw the landing page'],
      ['/agents', 'Agents'],
      [`/agents/${agent}?tab=prompt`, 'Agent: Demo writer'],
      ['/webhooks', 'Webhooks'],
      ['/events', 'Events'],
      ['/nowhere', 'There is no such page'],
    ];
    for (const [path, title] of pages) {
      await page.goto(`${url}/#${path}`);
      await titleOf(page).toBe(`${title} · Crewboard`);
    }
    // The panel of a task is in front of the board also after a reload, and when the task is renamed.
    await page.goto(`${url}/#/board?task=${taskId}`);
    await page.reload();
    await titleOf(page).toBe('Task: Draw the landing page · Crewboard');
    successOf(await api.updateTask({ params: { id: taskId }, body: { title: 'Draw the page', status: 'done' } }));
    await titleOf(page).toBe('Task: Draw the page · Crewboard');
    await openAccount(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await titleOf(page).toBe('Sign in · Crewboard');
  });

  it('head webhooks by their description, or by their URL, also in lists and on the pages of deliveries', async () => {
    const { api, token, url } = consoles.service();
    const receiver = await startReceiver();
    const create = async (description?: string) => {
      const body = { url: `${receiver.url}/hooks`, events: ['task.created'], ...(description && { description }) };
      return successOf<{ id: string }>(await api.registerWebhook({ body })).id;
    };
    const hostile = 'Slack relay <img src=x onerror="document.title=1">';
    const [named, bare] = [await create(hostile), await create()];
    await createTask(consoles.service(), 'Delivered');
    const [{ deliveryId } = expect.fail('no attempt')] = await attemptsOf(consoles.service(), named, 1);
    const { page } = await consoles.open({ token, path: '/webhooks' }, { viewport: screens.phone });
    const heading = page.getByRole('heading', { level: 1 });
    const rows = page.getByRole('table', { name: 'Webhooks' });
    await rows.getByRole('link', { name: hostile }).waitFor();
    await rows.getByRole('link', { name: `${receiver.url}/hooks` }).waitFor();
    await rows.getByRole('link', { name: hostile }).click();
    await heading.getByText(hostile).waitFor();
    await page.locator('.page-detail').getByText(`${receiver.url}/hooks`).waitFor();
    await titleOf(page).toBe(`Webhook: ${hostile} · Crewboard`);
    expect(await page.evaluate('document.getElementById("main").scrollWidth')).toBeLessThanOrEqual(390);
    expect(await accessibilityProblems(page)).toEqual([]);

    await page.goto(`${url}/#/webhooks/${named}/deliveries/${deliveryId}`);
    await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: hostile }).waitFor();
    await titleOf(page).toBe('Delivery: task.created · Crewboard');
    await page.goto(`${url}/#/webhooks/${bare}`);
    await heading.getByText(`${receiver.url}/hooks`).waitFor();
    await titleOf(page).toBe(`Webhook: ${receiver.url}/hooks · Crewboard`);
    expect(await page.locator('.page-detail').count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: hostile }).waitFor();
  });

  it('head runs by the title of their task, or by the start of their input', async () => {
    const { token, url } = consoles.service();
    const agent = await createAgent(consoles.service(), 'header');
    const run = async (input: string, taskId?: string) => {
      const id = await execute(consoles.service(), agent, input, taskId ? { taskId } : {});
      await endOf(consoles.service(), agent, id);
      return id;
    };
    const taskId = await createTask(consoles.service(), 'Write the prices');
    const [onTask, bare] = [await run('Work on it', taskId), await run(`\n Compare\n${'all plans '.repeat(30)}`)];
    const { page } = await consoles.open({ token, path: `/runs/${agent}/${onTask}` }, { viewport: screens.phone });
    const heading = page.getByRole('heading', { level: 1 });
    await heading.getByText('Write the prices').waitFor();
    const facts = page.locator('.fact-bar');
    await facts.getByText(agent).waitFor();
    await facts.getByText(onTask).waitFor();
    await page.goto(`${url}/#/runs/${agent}/${bare}`);
    await heading.getByText(/^Compare all plans .*…/).waitFor();
    await titleOf(page).toMatch(/^Run: Compare all plans .{60,90}… · Crewboard$/);
    expect(await page.evaluate('document.getElementById("main").scrollWidth')).toBeLessThanOrEqual(390);

    const reader = await newToken(consoles.service(), 'local', '--scopes', 'agents:read');
    const other = await consoles.open({ token: reader, path: `/runs/${agent}/${onTask}` });
    await other.page.getByRole('heading', { level: 1 }).getByText('Work on it').waitFor();
  });
});
