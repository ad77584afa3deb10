import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createApiOverHttp } from '../../api-over-http.ts';
import { createAgent, createTask, endOf, execute, newToken, register } from '../../journeys/requests.ts';
import { accessibilityProblems } from './axe.ts';
import { program, screens, useConsole } from './console.ts';

/** The scopes of a token that may only read. */
const readOnly = 'tasks:read,agents:read,webhooks:read';

describe.runIf(program)('the console with a token that lacks scopes', () => {
  const consoles = useConsole();
  const tokenWith = (scopes: string, organization = 'local') =>
    newToken(consoles.service(), organization, '--scopes', scopes);

  it('says of each screen that the token may not read it, and sends no request for it', async () => {
    const { page } = await consoles.open({ token: await tokenWith('tasks:read') });
    const absent = [
      ['/runs', 'Runs', 'agents:read'],
      ['/runs/builder/ex_01K9Z3T6V0QW8E5R7T9Y1AB2CD', 'Runs', 'agents:read'],
      ['/agents?create=agent', 'Agents', 'agents:read'],
      ['/agents/qa-reviewer?tab=try', 'Agents', 'agents:read'],
      ['/webhooks?create=webhook', 'Webhooks', 'webhooks:read'],
      ['/webhooks/wh_01K9Z3T6V0QW8E5R7T9Y1AB2CD', 'Webhooks', 'webhooks:read'],
      ['/events', 'Events', 'webhooks:read'],
    ] as const;
    for (const [path, title, scope] of absent) {
      await page.goto(`${consoles.service().url}/#${path}`);
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      await page.getByText(`Your access token does not have the scope ${scope}.`).waitFor();
      expect(await page.getByRole('status', { name: 'Loading' }).count(), path).toBe(0);
    }
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.setViewportSize(screens.phone);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it('says why a link to a dialog does not open it', async () => {
    const { page } = await consoles.open({ token: await tokenWith(readOnly) });
    const dialogs = [
      ['/board?create=backlog&priority=high', 'Create a task', 'tasks:write', '/board?priority=high'],
      ['/agents?create=agent', 'Create an agent', 'agents:write', '/agents'],
      ['/webhooks?create=webhook', 'Register a webhook', 'webhooks:write', '/webhooks'],
    ] as const;
    for (const [path, name, scope, after] of dialogs) {
      await page.goto(`${consoles.service().url}/#${path}`);
      const dialog = page.getByRole('dialog', { name });
      await dialog.getByText(`Your access token does not have the scope ${scope}.`).waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      expect(new URL(page.url()).hash).toBe(`#${after}`);
    }
    await page.goto(`${consoles.service().url}/#/agents/qa-reviewer?tab=try`);
    await page.getByText('Your access token does not have the scope agents:execute.').waitFor();
  });

  it('has no button of a change on any screen for a token that may only read', async () => {
    const agent = await createAgent(consoles.service(), 'shown', { capabilities: ['writing'] });
    const taskId = await createTask(consoles.service(), 'Shown');
    const id = await execute(consoles.service(), agent, 'Look', { taskId });
    await endOf(consoles.service(), agent, id);
    const webhook = await register(consoles.service(), { url: 'http://127.0.0.1:9/', events: ['task.created'] });
    const { page } = await consoles.open({ token: await tokenWith(readOnly) });
    const paths: [path: string, shown: string][] = [
      ['/', 'Latest runs'],
      [`/board?task=${taskId}`, 'History'],
      ['/runs', 'Shown'],
      [`/runs/${agent}/${id}`, 'Quality gates'],
      ['/agents', 'shown'],
      ...['prompt', 'versions', 'skills', 'improvements'].map((tab): [string, string] => [
        `/agents/${agent}?tab=${tab}`,
        { prompt: 'writing', versions: 'Version 1', skills: 'Catalogue', improvements: 'No improvements yet' }[
          tab
        ] as string,
      ]),
      ['/webhooks', 'http://127.0.0.1:9/'],
      [`/webhooks/${webhook}`, 'Registered'],
      ['/events', 'task.created'],
    ];
    for (const [path, shown] of paths) {
      await page.goto(`${consoles.service().url}/#${path}`);
      await page.locator('main').getByText(shown).filter({ visible: true }).first().waitFor();
      expect(await changesOn(page), path).toEqual([]);
    }
  });

  it('offers only the first steps that the token may take', async () => {
    const stepsOf = async (scopes: string) => {
      const { page } = await consoles.open({ token: await tokenWith(scopes, 'new') });
      await page.getByRole('heading', { name: 'This organization has no tasks yet' }).waitFor();
      return page.locator('.empty').getByRole('link').allInnerTexts();
    };
    expect(await stepsOf(readOnly)).toEqual([]);
    expect(await stepsOf('tasks:read,tasks:write,webhooks:read')).toEqual(['Create a task']);
    expect(await stepsOf(`${readOnly},webhooks:write`)).toEqual(['Register a webhook']);
  });

  it('has no links to screens that the token may not read', async () => {
    const token = await newToken(consoles.service(), 'linked', '--scopes', 'agents:read,webhooks:read');
    const api = createApiOverHttp(consoles.service().url, await newToken(consoles.service(), 'linked'));
    const agent = await createAgent({ api }, 'linker');
    const taskId = await createTask({ api }, 'Unread');
    const id = await execute({ api }, agent, 'Look', { taskId });
    await endOf({ api }, agent, id);
    const { page } = await consoles.open({ token });
    await page.getByRole('region', { name: 'Latest events' }).getByText('Unread').first().waitFor();
    await page.getByRole('region', { name: 'Latest runs' }).getByTitle(taskId).waitFor({ state: 'attached' });
    expect(await page.locator('a[href*="#/board"]').count()).toBe(0);
    await page.goto(`${consoles.service().url}/#/runs/${agent}/${id}`);
    await page.locator('.fact-bar').getByText(taskId).waitFor();
    expect(await page.locator('a[href*="#/board"]').count()).toBe(0);
  });
});

/** Returns the labels of the buttons and of the links like buttons on a screen that change something. */
async function changesOn(page: Page): Promise<string[]> {
  const labels = await page
    .locator('main, [role=dialog]')
    .locator('button:not(.column-name), .button')
    .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? one.textContent ?? ''));
  const harmless =
    /^(Copy|Raw|Close|Clear|Load more|Open |Show |Task (above|below)|\d+ more|Version|task\.|agent\.|webhook\.)/;
  return labels.filter((label) => !harmless.test(label));
}
