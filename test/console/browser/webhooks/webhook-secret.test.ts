import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { register } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';

/** A webhook without deliveries: no event of it occurs. */
const fields = { url: 'http://127.0.0.1:9/', events: ['agent.failed'] };

describe.runIf(program)('the secret of a webhook, which is shown once', () => {
  const consoles = useConsole();
  const open = (path: string, options = {}) => consoles.open({ token: consoles.service().token, path }, options);
  const secretOf = (page: Page) => page.getByRole('dialog', { name: 'Store the secret' });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  it('is masked, can be copied without being shown, and stays until it is stored', async () => {
    const { page } = await open('/webhooks', { viewport: screens.desktop });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await button(page, 'Register a webhook').click();
    await page.getByLabel('URL').fill(fields.url);
    await button(page, 'Register').click();
    await secretOf(page).waitFor();
    const shown = secretOf(page).locator('code');
    expect(await shown.innerText()).toMatch(/^whsec_•{44}/);
    expect(await accessibilityProblems(page)).toEqual([]);
    await button(page, 'Copy the secret').click();
    await page.getByText('Copied.').waitFor();
    const secret = await page.evaluate('navigator.clipboard.readText()');
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await button(page, 'Show the secret').click();
    expect(await shown.innerText()).toBe(secret);
    await button(page, 'Hide the secret').click();
    expect(await shown.innerText()).not.toContain(secret);

    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await secretOf(page).getByRole('button', { name: 'Close' }).count()).toBe(0);
    await button(page, 'Show the secret').click();
    expect(await shown.innerText()).toBe(secret);
    await button(page, 'I have stored it').click();
    await page.getByRole('heading', { level: 1, name: fields.url }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('stays when another screen is opened, and the browser asks before it leaves the page', async () => {
    const id = await register(consoles.service(), fields);
    const { page } = await open(`/webhooks/${id}`);
    await button(page, 'More actions').click();
    await page.getByRole('menuitem', { name: 'Rotate the secret…' }).click();
    await button(page, 'Rotate').click();
    await button(page, 'Show the secret').click();
    const secret = await secretOf(page).locator('code').innerText();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Overview', includeHidden: true }).waitFor();
    expect(await secretOf(page).locator('code').innerText()).toBe(secret);

    const asked = page.waitForEvent('dialog');
    await page.evaluate('setTimeout(() => location.reload())');
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    expect(await secretOf(page).locator('code').innerText()).toBe(secret);
    await button(page, 'I have stored it').click();
    await secretOf(page).waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    // Nothing asks any more.
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  it('is not lost by Escape before the service has answered', async () => {
    const id = await register(consoles.service(), fields);
    const { page } = await open(`/webhooks/${id}`);
    let answer = () => {};
    await page.route('**/rotate-secret', async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await route.continue();
    });
    await button(page, 'More actions').click();
    await page.getByRole('menuitem', { name: 'Rotate the secret…' }).click();
    const sent = page.waitForRequest('**/rotate-secret');
    await button(page, 'Rotate').click();
    await sent;
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    answer();
    await button(page, 'I have stored it').click();
    await secretOf(page).waitFor({ state: 'detached' });
  });
});
