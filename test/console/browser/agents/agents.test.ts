import { describe, expect, it } from 'vitest';
import type { AgentMetrics } from '../../../../lib/client/operations.ts';
import { successOf } from '../../../api.ts';
import { newToken } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';
import { scrollingTables } from '../scrolling-tables.ts';

const hostile = '<img src=x onerror="document.title=1">';

describe.runIf(program)('the list of agents', () => {
  const consoles = useConsole();

  const createAgent = async (name: string, more: object = {}) =>
    successOf(
      await consoles.service().api.createAgent({
        body: { name, displayName: `Agent ${name}`, category: 'development', ...more },
      }),
    );
  const open = (path: string, options?: Parameters<typeof consoles.open>[1]) =>
    consoles.open({ token: consoles.service().token, path }, options);

  it('creates an agent, opens it, and lists it with its facts', async () => {
    const { page } = await open('/agents');
    await page.getByRole('button', { name: 'Create agent' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create an agent' });
    await dialog.getByLabel('Display name').fill('Release notes');
    await dialog.getByLabel(/^Name/).fill('release-notes');
    await dialog.getByLabel('Category').selectOption('operations');
    await dialog.getByLabel('System prompt').fill('You write release notes.');
    await dialog.getByRole('button', { name: 'Create agent' }).click();
    await page.getByRole('heading', { level: 1, name: /Release notes/ }).waitFor();
    expect(await page.getByLabel(/^System prompt/).inputValue()).toBe('You write release notes.');

    await page.goBack();
    const row = page.getByRole('row', { name: /release-notes/ });
    await row.getByText('operations').waitFor();
    await row.getByText('active').waitFor();
    expect(await dialog.count()).toBe(0);
  });

  it('lists the runs of each agent, its success rate and its last run', async () => {
    await createAgent('busy-one', { systemPrompt: 'You write.' });
    const { api } = consoles.service();
    for (let nth = 0; nth < 2; nth++)
      successOf(await api.executeAgent({ params: { name: 'busy-one' }, body: { input: 'Write.' } }));
    const completed = async () =>
      successOf<AgentMetrics>(await api.getMetrics({ params: { name: 'busy-one' } })).executions.completed;
    await expect.poll(completed).toBe(2);
    const { page } = await open('/agents');
    const row = page.getByRole('row', { name: /busy-one/ });
    await row.getByRole('link', { name: /ago|now/ }).waitFor();
    expect((await row.getByRole('cell').allInnerTexts()).slice(2, 4)).toEqual(['2', '100 %']);
    await page
      .getByRole('row', { name: /prompt-improver/ })
      .getByText('none', { exact: true })
      .first()
      .waitFor();
    await row.getByRole('link', { name: /ago|now/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Write.' }).waitFor();
    await page.goBack();
    await row.getByRole('link', { name: 'Agent busy-one' }).click();
    await page.getByRole('link', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByLabel(/^System prompt/).waitFor();
  });

  it('says why a name is not accepted', async () => {
    await createAgent('taken');
    const one = await open('/agents');
    await one.page.getByRole('button', { name: 'Create agent' }).click();
    const dialog = one.page.getByRole('dialog');
    await dialog.getByLabel('Display name').fill('Another');
    await dialog.getByLabel(/^Name/).fill('taken');
    await dialog.getByRole('button', { name: 'Create agent' }).click();
    await dialog.getByRole('alert').waitFor();
    // The browser reports each 409 as an error.
    expect(one.problems.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  it('asks the service for the agents that match, and for further pages, with the exact total', async () => {
    for (let nth = 1; nth <= 26; nth++) await createAgent(`crowd-${nth}`, { category: 'research' });
    await createAgent('quiet-one', { category: 'research', status: 'draft' });
    const { page } = await open('/agents');
    const rows = page.getByRole('table', { name: 'Agents' }).locator('tbody tr');
    await page.getByLabel('Category').selectOption('research');
    await page.getByText('25 of 27 agents').waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('27 agents', { exact: true }).waitFor();
    expect(await rows.count()).toBe(27);
    await page.getByLabel('Status').selectOption('draft');
    await page.getByText('1 agent', { exact: true }).waitFor();
    await page.getByLabel('Status').selectOption('');
    await page.getByLabel('Search agents').fill('quiet');
    await page.getByText('1 agent', { exact: true }).waitFor();

    // The URL has the filters, so they survive a reload, and the copied request has them too.
    await page.waitForURL('**/#/agents?**search=quiet');
    await page.getByLabel('Status').selectOption('draft');
    await page.reload();
    await page.getByText('1 agent', { exact: true }).waitFor();
    expect(await page.getByLabel('Search agents').inputValue()).toBe('quiet');
    expect(await page.getByLabel('Status').inputValue()).toBe('draft');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: consoles.service().url });
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText('The command is copied').waitFor();
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(command).toContain('/api/agents?search=quiet&category=research&status=draft');

    await page.getByLabel('Search agents').fill('nothing-like-this');
    await page.getByRole('heading', { name: 'No agent matches' }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('heading', { name: 'No agent matches' }).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Search agents').inputValue()).toBe('');
  });

  it('shows hostile texts as text', async () => {
    const capabilities = [hostile];
    const texts = { displayName: hostile, description: hostile, systemPrompt: hostile, soul: hostile, capabilities };
    await createAgent('hostile', texts);
    const { page } = await open('/agents');
    await page.getByRole('link', { name: hostile }).click();
    await page.getByRole('heading', { level: 1, name: hostile }).waitFor();
    for (const tab of ['Prompt', 'Versions']) {
      await page.getByRole('link', { name: tab }).click();
      await page.getByText(hostile).nth(1).waitFor();
      expect(await page.locator('main img').count()).toBe(0);
    }
  });

  it('lacks the actions that the scopes of the token do not allow', async () => {
    await createAgent('read-only');
    const token = await newToken(consoles.service(), 'local', '--scopes', 'agents:read');
    const { page } = await consoles.open({ token, path: '/agents' });
    await page.getByRole('link', { name: 'Agent read-only' }).waitFor();
    expect(await page.getByRole('button', { name: 'Create agent' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Agent read-only' }).click();
    await page.getByRole('link', { name: 'Prompt' }).click();
    await page.getByLabel(/^System prompt/).waitFor();
    expect(await page.getByRole('button', { name: /^(More actions|Save|Discard)/ }).count()).toBe(0);
    expect(await page.getByRole('link', { name: /^(Try it|Run|Edit)$/ }).count()).toBe(0);
    expect(await page.getByLabel(/^System prompt/).isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'Improvements' }).click();
    await page.getByRole('heading', { name: 'No improvements yet' }).waitFor();
    expect(await page.getByRole('button', { name: 'Improve now' }).count()).toBe(0);
  });

  it('has self-improvement for a token with agents:execute and agents:write alone', async () => {
    await createAgent('improvable');
    for (const [more, count] of [
      ['agents:execute', 0],
      ['agents:execute,agents:write', 1],
    ] as const) {
      const token = await newToken(consoles.service(), 'local', '--scopes', `agents:read,${more}`);
      const { page } = await consoles.open({ token, path: '/agents/improvable?tab=improvements' });
      await page.getByRole('heading', { name: 'No improvements yet' }).waitFor();
      expect(await page.getByRole('button', { name: 'Improve now' }).count()).toBe(count);
    }
  });

  it('deletes an agent after a confirmation', async () => {
    await createAgent('short-lived');
    const { page } = await open('/agents/short-lived');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete Agent short-lived?' });
    await dialog.waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await dialog.getByRole('button', { name: 'Delete the agent' }).click();
    await page.getByText('The agent Agent short-lived is deleted.').waitFor();
    await page.getByRole('table', { name: 'Agents' }).waitFor();
    await page.getByRole('link', { name: 'Agent short-lived' }).waitFor({ state: 'detached' });
    expect((await consoles.service().api.getAgent({ params: { name: 'short-lived' } })).status).toBe(404);
  });

  it('says why an agent cannot be shown, and tries again', async () => {
    const one = await open('/agents/late');
    await one.page.getByRole('alert').waitFor();
    await createAgent('late');
    await one.page.getByRole('button', { name: 'Retry' }).click();
    await one.page.getByRole('heading', { level: 1, name: 'Agent late' }).waitFor();
    // The browser reports each 404 as an error.
    const problems = one.problems.splice(0);
    expect(problems).toEqual(problems.map(() => expect.stringContaining('404')));
  });

  it('fits a phone: no screen of agents is wider than the page', async () => {
    await createAgent('narrow', { systemPrompt: 'w'.repeat(400), description: 'd'.repeat(400) });
    const { page } = await open('/agents', { viewport: screens.phone });
    const isWide = () => page.evaluate<boolean>('document.getElementById("main").scrollWidth > 390');
    await page.getByRole('table', { name: 'Agents' }).waitFor();
    expect(await isWide()).toBe(false);
    expect(await page.evaluate(scrollingTables)).toBe(0);
    await page.getByRole('link', { name: 'Agent narrow' }).click();
    for (const tab of ['Overview', 'Prompt', 'Versions', 'Skills', 'Try it', 'Improvements']) {
      await page.getByRole('navigation', { name: 'Parts of the agent' }).getByRole('link', { name: tab }).click();
      await page.locator('.skeleton').waitFor({ state: 'detached' });
      expect([tab, await isWide()]).toEqual([tab, false]);
    }
  });
});
