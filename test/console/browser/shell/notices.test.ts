import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createTask, register } from '../../../journeys/requests.ts';
import { program, useConsole } from '../console.ts';

const broken = { status: 500, json: { success: false, error: { code: 'internal_error', message: 'It is broken.' } } };

describe.runIf(program)('the notices of the console', () => {
  const consoles = useConsole();
  const notice = (page: Page, text: string) => page.locator('.notice').filter({ hasText: text });
  const openWebhook = async () => {
    const id = await register(consoles.service(), { url: 'http://127.0.0.1:9/hooks', events: ['task.created'] });
    const one = await consoles.open({ token: consoles.service().token, path: `/webhooks/${id}` });
    await one.page.getByRole('button', { name: 'Pause' }).waitFor();
    return { ...one, id };
  };
  const goTo = async (page: Page, name: string) => {
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };

  it('keeps an error on its screen, once, until it is closed or the screen is left', async () => {
    const { page, problems, id } = await openWebhook();
    await page.route(`**/api/webhooks/${id}`, (route) =>
      route.request().method() === 'PATCH' ? route.fulfill(broken) : route.continue(),
    );
    const pause = page.getByRole('button', { name: 'Pause' });
    await pause.click();
    await notice(page, 'It is broken.').waitFor();
    await pause.click();
    await expect.poll(() => problems.length).toBe(2);
    expect(await notice(page, 'It is broken.').count()).toBe(1);
    // Also in front of a dialog, which stays open.
    await page.getByRole('button', { name: 'Send test' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send a test event' });
    await dialog.waitFor();
    await page.locator('.notice').getByRole('button', { name: 'Close', includeHidden: true }).click();
    await notice(page, 'It is broken.').waitFor({ state: 'detached' });
    expect(await dialog.isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    await pause.click();
    await notice(page, 'It is broken.').waitFor();
    await goTo(page, 'Runs');
    await notice(page, 'It is broken.').waitFor({ state: 'detached' });
    await page.goBack();
    await pause.waitFor();
    expect(await page.locator('.notice').count()).toBe(0);
    expect(problems.splice(0)).toHaveLength(3);
  });

  it('names the screen of an error that arrives after it was left', async () => {
    const { page, problems, id } = await openWebhook();
    let held: Route | undefined;
    await page.route(`**/api/webhooks/${id}`, async (route) => {
      if (route.request().method() === 'PATCH') held = route;
      else await route.continue();
    });
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect.poll(() => held !== undefined).toBe(true);
    await goTo(page, 'Agents');
    await held?.fulfill(broken);
    await notice(page, 'Webhooks: It is broken.').waitFor();
    await goTo(page, 'Runs');
    await notice(page, 'It is broken.').waitFor({ state: 'detached' });
    expect(problems.splice(0)).toHaveLength(1);
  });

  it('keeps an error of the board while a task is opened there', async () => {
    const id = await createTask(consoles.service(), 'Not moved');
    const one = await consoles.open({ token: consoles.service().token, path: '/board' });
    const { page, problems } = one;
    await page.route(`**/api/kanban-tasks/${id}`, (route) =>
      route.request().method() === 'PATCH' ? route.fulfill(broken) : route.continue(),
    );
    await page.getByRole('button', { name: 'Move “Not moved” to…' }).click();
    await page.getByRole('menuitem', { name: 'Move to Done' }).click();
    await notice(page, 'It is broken.').waitFor();
    await page.getByRole('link', { name: 'Not moved' }).click();
    await page.getByRole('dialog', { name: 'Not moved' }).waitFor();
    expect(await notice(page, 'It is broken.').count()).toBe(1);
    expect(problems.splice(0)).toHaveLength(1);
  });

  it('takes what an action has done along to the screen that it opens', async () => {
    const { page } = await openWebhook();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the webhook' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await notice(page, 'The webhook is deleted.').waitFor();
  });
});
