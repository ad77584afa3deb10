import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { successOf } from '../../../api.ts';
import { createAgent, createTask, newToken, register } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';
import { tabTo } from '../keyboard.ts';

const menuOf = (page: Page) => page.getByRole('dialog', { name: 'Command menu' });
const fieldOf = (page: Page) => menuOf(page).getByRole('combobox');
const commandsOf = (page: Page) => menuOf(page).getByRole('option');
const activeOf = (page: Page) => menuOf(page).locator('[role=option][data-highlighted]');
const buttonOf = (page: Page) => page.getByRole('button', { name: 'Search or run…' });

/** Opens the menu by its keys, enters words, and runs the first command that has them. */
async function run(page: Page, words: string, keys = 'Control+k'): Promise<void> {
  await page.keyboard.press(keys);
  await fieldOf(page).fill(words);
  // Agents and webhooks are read when the menu is open.
  await activeOf(page).waitFor();
  await page.keyboard.press('Enter');
  await menuOf(page).waitFor({ state: 'detached' });
}

describe.runIf(program)('the command menu', () => {
  const consoles = useConsole();
  const open = (path = '/', ...options: Parameters<typeof consoles.open>[1][]) =>
    consoles.open({ token: consoles.service().token, path }, ...options);

  it('opens by its keys, also while a field has the focus, and by its button, and gives the focus back', async () => {
    const { page } = await open('/board');
    const project = page.getByRole('combobox', { name: 'Project' });
    await project.focus();
    for (const keys of ['Control+k', 'Meta+k']) {
      await page.keyboard.press(keys);
      await menuOf(page).locator('input:focus').waitFor();
      await page.keyboard.press('Escape');
      await menuOf(page).waitFor({ state: 'detached' });
      await page.locator('input[aria-label="Project"]:focus').waitFor();
    }
    await buttonOf(page).click();
    await menuOf(page).getByRole('button', { name: 'Close' }).click();
    await page.locator('.command-button:focus').waitFor();
    await buttonOf(page).click();
    await menuOf(page).waitFor();
    await page.mouse.click(10, 700);
    await menuOf(page).waitFor({ state: 'detached' });
  });

  it('shows its keys as the keyboard has them', async () => {
    const { page } = await open();
    await buttonOf(page).getByText('Ctrl+K').waitFor();
    await page.addInitScript("Object.defineProperty(navigator, 'platform', { value: 'MacIntel' })");
    await page.reload();
    await buttonOf(page).getByText('⌘K').waitFor();
  });

  it('stays closed while a dialog or a menu is open', async () => {
    await createTask(consoles.service(), 'With a menu');
    const { page } = await open('/board');
    await page.getByRole('button', { name: 'Move “With a menu” to…' }).click();
    await page.getByRole('menu').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Create a task', exact: true }).click();
    await page.getByRole('dialog', { name: 'Create a task' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Create a task' }).waitFor({ state: 'detached' });
    // Only now it opens, so the keys before had no effect.
    expect(await menuOf(page).count()).toBe(0);
    await page.keyboard.press('Control+k');
    await menuOf(page).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(1);
  });

  it('is loaded when it is opened first, and reads the agents only then', async () => {
    const { page } = await open();
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).pathname));
    const menuFiles = () => requested.filter((path) => path.startsWith('/assets/command-menu-'));
    await page.reload();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByText('Updated').waitFor();
    expect([menuFiles(), requested.includes('/api/agents')]).toEqual([[], false]);
    await page.keyboard.press('Control+k');
    await commandsOf(page).getByText('qa-reviewer').waitFor();
    expect(menuFiles()).toHaveLength(1);
  });

  it('has what is typed while it is loaded, which has no effect on the page', async () => {
    const { page } = await open('/board');
    const { promise: loading, resolve: load } = Promise.withResolvers<void>();
    await page.route('**/assets/command-menu-*', async (route) => {
      await loading;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Create a task', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Control+k');
    // C alone creates a task.
    await page.keyboard.type('c api');
    load();
    await expect.poll(() => commandsOf(page).allInnerTexts()).toEqual(['API reference']);
    expect(await fieldOf(page).inputValue()).toBe('c api');
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.keyboard.press('Escape');
    await menuOf(page).waitFor({ state: 'detached' });
    // Faster than the field gets the focus.
    await page.keyboard.press('Control+k');
    await page.keyboard.type('c webhooks');
    await expect.poll(() => fieldOf(page).inputValue()).toBe('c webhooks');
  });

  it('says why it cannot be loaded, for example after an upgrade of the service', async () => {
    const one = await open();
    await one.page.route('**/assets/command-menu-*', (route) => route.fulfill({ status: 404 }));
    await buttonOf(one.page).click();
    await one.page.getByText('If it has a newer version, reload the page.').waitFor();
    // The browser reports the response.
    expect(one.problems.splice(0)).toEqual([expect.stringContaining('404')]);
  });

  it('finds commands by words in any order, and goes to a screen', async () => {
    const { page } = await open('/board');
    await page.keyboard.press('Control+k');
    await fieldOf(page).fill('HOOK  go');
    await expect.poll(() => commandsOf(page).allInnerTexts()).toEqual(['Webhooks']);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await page.keyboard.press('Control+k');
    await fieldOf(page).fill('nothing has this');
    await menuOf(page).getByText('No command, agent, webhook or task matches.').waitFor();
    expect(await commandsOf(page).count()).toBe(0);
    await fieldOf(page).fill('');
    await commandsOf(page).getByText('API reference').click();
    await page.waitForURL('**/docs');
  });

  it('opens agents by name, webhooks by URL or id, and tasks and events by id', async () => {
    const { api } = consoles.service();
    await createAgent(consoles.service(), 'night-writer');
    const task = await createTask(consoles.service(), 'A task with an id');
    const webhook = await register(consoles.service(), {
      url: 'http://127.0.0.1:9/by-menu',
      events: ['agent.failed'],
      secret: 's'.repeat(32),
    });
    const [event] = successOf<{ id: string }[]>(await api.listEvents({ query: 'limit=1' }));
    const { page } = await open();
    const title = (name: string) => page.getByRole('heading', { name }).first();
    await run(page, 'writer night');
    await title('night-writer').waitFor();
    await run(page, 'by-menu');
    await title('http://127.0.0.1:9/by-menu').waitFor();
    await run(page, ` ${task} `);
    await page.getByRole('dialog', { name: 'A task with an id' }).getByRole('button', { name: 'Close' }).click();
    await run(page, webhook);
    await title('http://127.0.0.1:9/by-menu').waitFor();
    await run(page, event?.id ?? '');
    await title('Event').waitFor();
    await page.locator('.event-head', { hasText: 'task.created' }).waitFor();
  });

  it('creates a task on the board, from another screen and with the filters of the board', async () => {
    const { page } = await open('/events');
    const dialog = page.getByRole('dialog', { name: 'Create a task' });
    await run(page, 'create task');
    await page.getByLabel('Title').and(page.locator(':focus')).waitFor();
    await dialog.getByLabel('Title').fill('Created by a command');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await page.locator('.card', { hasText: 'Created by a command' }).waitFor();
    expect(page.url()).not.toContain('create');

    await page.goto(`${consoles.service().url}/#/board?project=proj_menu`);
    await buttonOf(page).focus();
    await run(page, 'new task');
    await page.getByLabel('Title').and(page.locator(':focus')).waitFor();
    expect(await dialog.getByLabel('Project').inputValue()).toBe('proj_menu');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByRole('combobox', { name: 'Project' }).inputValue()).toBe('proj_menu');
    await page.goBack();
    await page.locator('.card', { hasText: 'Created by a command' }).waitFor();
    expect(await dialog.count()).toBe(0);
  });

  it('creates an agent and registers a webhook', async () => {
    const { page } = await open('/board');
    await run(page, 'create agent');
    await page.getByRole('dialog', { name: 'Create an agent' }).getByLabel('Display name').fill('Made');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    await run(page, 'register');
    await page.getByRole('dialog', { name: 'Register a webhook' }).getByLabel('URL').fill('http://127.0.0.1:9/');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  });

  it('changes the theme, which the navigation then shows, and signs out', async () => {
    const { page } = await open();
    await run(page, 'dark');
    await page.locator('html[data-theme=dark]').waitFor();
    expect(await page.getByLabel('Theme').inputValue()).toBe('dark');
    await run(page, 'system theme', 'Meta+k');
    await page.locator('html:not([data-theme])').waitFor();
    expect(await page.getByLabel('Theme').inputValue()).toBe('system');
    await run(page, 'sign out');
    await page.getByLabel('Access token').waitFor();
  });

  it('offers only what the scopes of the token allow', async () => {
    const { api } = consoles.service();
    const [event] = successOf<{ id: string }[]>(await api.listEvents({ query: 'limit=1' }));
    const token = await newToken(consoles.service(), 'local', '--scopes', 'tasks:read,agents:write');
    const { page } = await consoles.open({ token });
    await page.keyboard.press('Control+k');
    await menuOf(page).waitFor();
    expect(await commandsOf(page).allInnerTexts()).toEqual([
      ...['Overview', 'Board', 'API reference'],
      ...['List the keys', 'Use the light theme', 'Use the dark theme', 'Sign out'],
    ]);
    await fieldOf(page).fill(event?.id ?? '');
    await menuOf(page).getByText('No command, agent, webhook or task matches.').waitFor();
  });

  it('works by the keyboard only', async () => {
    const { page } = await open();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await tabTo(buttonOf(page));
    await page.keyboard.press('Enter');
    await menuOf(page).locator('input:focus').waitFor();
    await commandsOf(page).getByText('qa-reviewer').waitFor();
    /** Waits until a command is the active one, also for screen readers. */
    const isActive = async (label: string) => {
      await activeOf(page).filter({ hasText: label }).waitFor();
      expect(await fieldOf(page).getAttribute('aria-activedescendant')).toBe(await activeOf(page).getAttribute('id'));
    };
    await isActive('Overview');
    await page.keyboard.press('ArrowDown');
    await isActive('Board');
    await page.keyboard.type('a');
    await isActive('Board');
    await page.keyboard.type('gents');
    await isActive('Agents');
    await page.keyboard.press('ArrowUp');
    await isActive('qa-reviewer');
    await page.keyboard.press('ArrowDown');
    await isActive('Agents');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
  });

  it('has no accessibility problems in both themes', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open('/', { viewport: screens.desktop, colorScheme });
      await page.keyboard.press('Control+k');
      await commandsOf(page).getByText('qa-reviewer').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await fieldOf(page).fill('nothing has this');
      await menuOf(page).getByText('No command, agent, webhook or task matches.').waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
    }
  });

  it('covers the width of a phone, and opens by a button above the navigation', async () => {
    const { page } = await open('/', { viewport: screens.phone, hasTouch: true, isMobile: true });
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const { width = 0, height = 0 } = (await buttonOf(page).boundingBox()) ?? {};
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(32);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(screens.phone.width);
    await buttonOf(page).tap();
    await commandsOf(page).getByText('qa-reviewer').waitFor();
    const box = await menuOf(page).boundingBox();
    expect([box?.x, box?.width]).toEqual([0, screens.phone.width]);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(screens.phone.height);
    for (const command of await commandsOf(page).all())
      expect((await command.boundingBox())?.height).toBeGreaterThanOrEqual(32);
    await commandsOf(page).getByText('qa-reviewer').tap();
    await page.getByRole('heading', { name: 'QA reviewer' }).first().waitFor();
  });
});
