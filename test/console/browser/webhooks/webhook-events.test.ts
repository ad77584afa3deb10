import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { EventOfWebhook } from '../../../../lib/contract/webhooks/webhook-events.ts';
import type { Webhook } from '../../../../lib/contract/webhooks/webhooks.ts';
import { dataOf, successOf } from '../../../api.ts';
import { until } from '../../../journeys/deployment.ts';
import { createTask, newToken, register } from '../../../journeys/requests.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, useConsole } from '../console.ts';

/** The longest time until the service has sent a delivery again, in milliseconds: a recovery begins within two minutes. */
const sentWithinMs = 150_000;

/** The longest time until the new state is shown, in milliseconds: less than that between two reads of a list without changes. */
const shownWithinMs = 20_000;

describe.runIf(program)('the events of a webhook in the console', () => {
  const consoles = useConsole();

  /** Registers a webhook whose receiver responds with the status that is set. */
  async function receive() {
    const answer = { status: 204 };
    const receiver = await startReceiver((response) => response.writeHead(answer.status).end());
    const id = await register(consoles.service(), { url: receiver.url, events: ['task.created'] });
    const params = { id };
    const { api } = consoles.service();
    const events = async () => dataOf<EventOfWebhook[]>(await api.listWebhookEvents({ params }));
    /** Creates a task, whose event leads to a state. */
    const publish = async (state: EventOfWebhook['state'], status = 204) => {
      answer.status = status;
      const task = await createTask(consoles.service(), 'A task');
      const find = async () => (await events()).find((event) => event.taskId === task && event.state === state);
      return (await until(`the event is ${state}`, find)) as EventOfWebhook;
    };
    const pause = async (active: boolean) => successOf<Webhook>(await api.updateWebhook({ params, body: { active } }));
    const open = (token = consoles.service().token) => consoles.open({ token, path: `/webhooks/${id}` });
    return { answer, receiver, id, events, publish, pause, open };
  }

  const rows = (page: Page, name: string | RegExp) => page.getByRole('row', { name });

  it('are listed once each, by state, with the hint of an unsigned attempt, and lead to their attempts', async () => {
    const { publish, pause, open } = await receive();
    await publish('delivered');
    await publish('retrying', 401);
    await pause(false);
    await publish('skipped');
    const { page } = await open();
    await rows(page, /skipped task.created A task 0 The webhook was paused/).waitFor();
    await rows(page, /delivered task.created A task 204 1/).waitFor();
    const refused = rows(
      page,
      /retrying task.created A task 401 1 Next attempt in 4 min.*Not signed: the webhook has no secret/,
    );
    await refused.waitFor();
    expect(await page.getByRole('row').count()).toBe(4);
    expect(await accessibilityProblems(page)).toEqual([]);

    await page.getByLabel('State', { exact: true }).selectOption('retrying');
    await rows(page, /skipped/).waitFor({ state: 'detached' });
    await refused.waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.reload();
    await refused.waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByLabel('State', { exact: true }).selectOption('exhausted');
    await page.getByText('No events match').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('link', { name: 'Attempts' }).click();
    await rows(page, /failed task.created 401 1/).waitFor();
    await page.getByRole('link', { name: 'Events', exact: true }).last().click();
    await refused.getByRole('link', { name: 'task.created' }).click();
    await page.getByRole('heading', { name: 'task.created retrying' }).waitFor();
    await page.getByText('Attempt 1').waitFor();
    await page.goBack();
    await refused.getByRole('link', { name: 'A task' }).click();
    await page.getByRole('dialog', { name: 'A task' }).waitFor();
  });

  it('are sent again together, a delivered one only after a question', { timeout: 240_000 }, async () => {
    const { receiver, publish, pause, open } = await receive();
    await pause(false);
    const skipped = await publish('skipped');
    await pause(true);
    const delivered = await publish('delivered');
    const { page } = await open();
    const again = rows(page, /delivered/).getByRole('button', { name: 'Send again' });
    const opacity = () => page.evaluate<string>('getComputedStyle(document.querySelector(".on-demand")).opacity');
    await again.waitFor();
    expect(await opacity()).toBe('0');
    await again.focus();
    expect(await opacity()).toBe('1');
    await again.click();
    await page.getByText('The receiver already has this delivery.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();

    await page.getByLabel('Select all').check();
    await page.getByText('2 selected').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send selected again' }).click();
    await page.getByText('The receiver already has 1 of them.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(receiver.received).toHaveLength(1);
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByText('2 deliveries are sent again.').waitFor();
    await page.getByText('2 selected').waitFor({ state: 'detached' });
    const received = await receiver.next(3, sentWithinMs);
    const ids = received.map(({ body }) => body.deliveryId);
    expect(ids.toSorted()).toEqual([delivered.deliveryId, delivered.deliveryId, skipped.deliveryId].sort());
    await rows(page, /delivered task.created A task 204 2/).waitFor({ timeout: shownWithinMs });
    await rows(page, /delivered task.created A task 204 1/).waitFor({ timeout: shownWithinMs });
  });

  it('are shown with a running recovery that another client began, which can be cancelled', {
    timeout: 240_000,
  }, async () => {
    const { id, events, pause, open } = await receive();
    await pause(false);
    for (let count = 0; count < 20; count++) await createTask(consoles.service(), 'Missed');
    const isSkipped = async () => (await events()).filter(({ state }) => state === 'skipped').length === 20;
    await until('the events are skipped', isSkipped);
    await pause(true);
    const body = { since: new Date(Date.now() - 3_600_000).toISOString(), ratePerSecond: 1 };
    const { api } = consoles.service();
    successOf(await api.recoverWebhook({ params: { id }, body }));
    // A recovery waits during a pause, so it does not end before the page is open.
    await pause(false);
    const { page } = await open();
    const recovery = page.getByRole('region', { name: 'Recovery' });
    await recovery.getByText('running').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await recovery.getByRole('button', { name: 'Cancel the recovery' }).click();
    await recovery.getByText('cancelled').waitFor();
    await recovery.getByText(/^20 matched, \d+ delivered, 0 failed, \d+ not sent$/).waitFor();
    expect(await recovery.getByRole('button').count()).toBe(0);
    expect(await accessibilityProblems(page)).toEqual([]);
    const listed = page.waitForResponse((response) => response.url().includes(`${id}/recoveries?`));
    await page.reload();
    await listed;
    await rows(page, /task.created/)
      .first()
      .waitFor();
    expect(await recovery.count()).toBe(0);
  });

  it('say at the row why one cannot be sent again', async () => {
    const { publish, pause, open } = await receive();
    await publish('retrying', 500);
    await pause(false);
    const opened = await open();
    const { page } = opened;
    await rows(page, /retrying/)
      .getByRole('button', { name: 'Retry now' })
      .click();
    await page.getByRole('row').getByText('The webhook is paused. Resume it').waitFor();
    expect(opened.problems.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  it('have no actions for a token that can only read', async () => {
    const { publish, open } = await receive();
    await publish('delivered');
    const token = await newToken(consoles.service(), 'local', '--scopes', 'webhooks:read');
    const { page } = await open(token);
    await rows(page, /delivered/).waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.locator('main').getByRole('button').allInnerTexts()).toEqual(['Copy as curl', 'Copy']);
  });
});
