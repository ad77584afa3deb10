import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startHeldModel } from '../../../journeys/executions/held-model.ts';
import { createAgent, createTask, execute } from '../../../journeys/requests.ts';
import { accessibilityProblems } from '../axe.ts';
import { type Console, program, screens, useConsole } from '../console.ts';

const eventLog = '**/api/webhooks/events?*';

/** Takes the errors that the browser reports of requests without a response. */
function expectFailedRequests({ problems }: Console): void {
  for (const problem of problems.splice(0)) expect(problem).toMatch(/net::ERR_|Failed to fetch|50[0-9]/);
}

describe.runIf(program)('the console in an outage', async () => {
  const model = await startHeldModel();
  const consoles = useConsole({ environment: model.environment });
  const bar = (page: Page) => page.locator('.outage');
  const updated = (page: Page) => page.locator('.live').getByText(/^Updated /);

  it('says that the device is offline and since when, and reads again as soon as it is not', async () => {
    const one = await consoles.open({ token: consoles.service().token, path: '/board' });
    const { page } = one;
    const context = page.context();
    await page.getByRole('heading', { level: 1, name: 'Board' }).waitFor();
    await context.setOffline(true);
    await bar(page).getByRole('alert').getByText('This device is offline.').waitFor();
    await bar(page)
      .getByText(/^Trying again (in \d+ s|…)$/)
      .waitFor();
    const since = await bar(page).getByRole('time').getAttribute('datetime');
    expect(Math.abs(Date.now() - Date.parse(since as string))).toBeLessThan(60_000);
    // The time of the last update does not count on.
    await page.locator('.live').getByText('Not updated').waitFor();
    expect(await updated(page).count()).toBe(0);
    expect(await accessibilityProblems(page)).toEqual([]);

    await createTask(consoles.service(), 'Created meanwhile');
    await context.setOffline(false);
    await page.getByText('Created meanwhile').waitFor();
    await bar(page).waitFor({ state: 'detached' });
    await updated(page).waitFor();
    expectFailedRequests(one);
  });

  it('says why the service does not answer, reads on demand, and reads what failed in the outage', async () => {
    const one = await consoles.open();
    const { page } = one;
    await updated(page).waitFor();
    await page.route('**/api/**', (route) => route.fulfill({ status: 502, body: 'broken' }));
    await bar(page).getByText('The service responds with status 502.').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Webhooks' }).click();
    await page.locator('main').getByRole('alert').waitFor();
    await page.unroute('**/api/**');
    await page.route(eventLog, (route) => route.abort());
    await bar(page).getByText('The service cannot be reached.').waitFor();
    await page.unroute(eventLog);
    await bar(page).getByRole('button', { name: 'Try now' }).click();
    await bar(page).waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'No webhooks' }).waitFor();
    expect(await page.locator('main').getByRole('alert').count()).toBe(0);
    expectFailedRequests(one);
  });

  it('stops the clocks of what runs', async () => {
    const agent = await createAgent(consoles.service(), 'clock');
    const id = await execute(consoles.service(), agent, 'Take long');
    const one = await consoles.open({ token: consoles.service().token, path: `/runs/${agent}/${id}` });
    const { page } = one;
    const clock = page.locator('.fact-bar').getByTitle('Still running');
    await clock.waitFor();
    await page.context().setOffline(true);
    await bar(page).waitFor();
    const stopped = await clock.innerText();
    const sinceStart = () => page.evaluate<number>('performance.now()');
    const start = await sinceStart();
    await expect.poll(sinceStart).toBeGreaterThan(start + 3_000);
    expect(await clock.innerText()).toBe(stopped);
    await page.context().setOffline(false);
    await bar(page).waitFor({ state: 'detached' });
    model.answer();
    expectFailedRequests(one);
  });

  it('keeps the page if the scripts of a screen cannot be loaded, and loads them later', async () => {
    const one = await consoles.open();
    const { page } = one;
    await updated(page).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('navigation').getByRole('link', { name: 'Events' }).click();
    const failure = page.locator('main').getByRole('alert');
    await failure.getByText('This screen is not loaded yet, and the service cannot be reached.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Events' }).click();
    await failure.waitFor();
    await page.context().setOffline(false);
    await page.locator('.event-rows').waitFor();
    expectFailedRequests(one);
  });

  it('reloads the page once if the service no longer has its scripts', async () => {
    await createTask(consoles.service(), 'Published');
    const one = await consoles.open();
    const { page } = one;
    await page.route('**/assets/events-*', (route) => route.fulfill({ status: 404, body: '{}' }));
    let loads = 0;
    page.on('load', () => loads++);
    await page.getByRole('navigation').getByRole('link', { name: 'Events' }).click();
    await page.locator('main').getByRole('alert').getByText('reload the page').waitFor();
    expect(loads).toBe(1);
    await page.unroute('**/assets/events-*');
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.locator('.event-rows').waitFor();
    for (const problem of one.problems.splice(0)) expect(problem).toContain('404');
  });

  it('keeps the token of the tab if the service cannot be asked about it', async () => {
    const one = await consoles.open();
    const { page } = one;
    await page.route('**/api/me', (route) => route.fulfill({ status: 502, body: 'broken' }));
    await page.reload();
    await page.getByRole('alert').getByText('status 502').waitFor();
    await page.unroute('**/api/me');
    await page.getByRole('button', { name: 'Try again with the token of this tab' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expectFailedRequests(one);
  });

  it.each(['light', 'dark'] as const)('fits a phone, also with the panel of a task (%s)', async (colorScheme) => {
    const id = await createTask(consoles.service(), 'Opened');
    const one = await consoles.open(
      { token: consoles.service().token, path: `/board?task=${id}` },
      { viewport: screens.phone, colorScheme },
    );
    const { page } = one;
    const panel = page.getByRole('dialog', { name: 'Opened' });
    await panel.getByRole('heading', { name: 'History' }).waitFor();
    await page.route(eventLog, (route) => route.fulfill({ status: 503, json: unavailable }));
    await bar(page).getByText(unavailable.error.message).waitFor();
    const boxes = await Promise.all([bar(page).boundingBox(), panel.boundingBox()]);
    expect((boxes[0]?.y ?? 0) + (boxes[0]?.height ?? 0)).toBeLessThanOrEqual((boxes[1]?.y ?? 0) + 1);
    expect(await bar(page).evaluate((one) => one.scrollHeight - one.clientHeight)).toBeLessThanOrEqual(0);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.unroute(eventLog);
    await bar(page).waitFor({ state: 'detached' });
    expectFailedRequests(one);
  });
});

/** The response of a service that is overloaded. */
const unavailable = {
  success: false,
  error: { code: 'unavailable', message: 'The service cannot handle the request now; retry it in a few seconds.' },
};
