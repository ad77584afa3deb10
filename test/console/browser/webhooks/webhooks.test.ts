import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../../../lib/client/verify-webhook.ts';
import type { Event, EventDetail } from '../../../../lib/contract/webhooks/event-log.ts';
import { maxPerSecondLimit, type TestResult, type Webhook } from '../../../../lib/contract/webhooks/webhooks.ts';
import { dataOf, paginationOf, successOf } from '../../../api.ts';
import { until } from '../../../journeys/deployment.ts';
import { attemptsOf, createTask, newToken, register } from '../../../journeys/requests.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import { accessibilityProblems } from '../axe.ts';
import { type Console, program, screens, useConsole } from '../console.ts';
import { scrollingTables } from '../scrolling-tables.ts';

/** The longest time until the service has found a redelivery or a recovery and its attempt is shown, in milliseconds. */
const redeliveredWithinMs = 150_000;

const hostile = '<img src=x onerror="document.title=1">';

/** Takes the errors that the browser reports of the error responses that a test expects. */
function expectResponses({ problems }: Console, ...statuses: number[]): void {
  expect(problems.splice(0)).toEqual(statuses.map((status) => expect.stringContaining(String(status))));
}

async function choose(page: Page, action: string): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

async function sendTest(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send test' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
}

describe.runIf(program)('the webhooks in the console', () => {
  const consoles = useConsole({ environment: { RETRY_LADDER: '1,1,1', CALLS_OUT_PER_MINUTE: '6000' } });
  const receive = async (answer?: Parameters<typeof startReceiver>[0]) => {
    const receiver = await startReceiver(answer);
    const id = await register(consoles.service(), { url: receiver.url, events: ['task.created'] });
    return { receiver, id, params: { id } };
  };

  it('registers a webhook, whose test arrives with the secret that was shown, and pauses and resumes it', async () => {
    const receiver = await startReceiver();
    const { page } = await consoles.open({ token: consoles.service().token, path: '/webhooks' });
    await page.getByRole('button', { name: 'Register a webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Register' }).click();
    await dialog.getByRole('button', { name: 'Show the secret' }).click();
    const secret = await dialog.locator('code').innerText();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('heading', { name: receiver.url }).waitFor();

    await sendTest(page);
    await page.getByText('The receiver responded 204').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    const [{ raw: body, headers } = expect.fail('no request')] = await receiver.next(1);
    expect(await verifyWebhook({ body, headers, secret })).toMatchObject({ event: 'task.created' });
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Attempts' }).click();
    await page.getByRole('row', { name: /delivered task.created test 204 1/ }).waitFor();

    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('active', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    // Not to the dialog, which would have another secret.
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('shows the attempts of a failing receiver, and sends the delivery again', { timeout: 240_000 }, async () => {
    // Without a status, the receiver holds a request.
    let release: (code: number) => void = () => {};
    let status: number | undefined;
    const { receiver, id } = await receive((response) => {
      const respond = (code: number) => response.writeHead(code, { 'X-Cause': 'outage' }).end('{"down":true}');
      if (status === undefined) release = respond;
      else respond(status);
    });
    // Before the event: the receiver holds its request for as long as the service waits for a response.
    const { page } = await consoles.open({ token: consoles.service().token, path: '/events' });
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    await createTask(consoles.service(), 'A held task');
    await page.getByRole('button', { name: 'A held task' }).click();
    await receiver.next(1);
    // The webhooks of other tests are subscribed too.
    await page.locator(`a[href*="${id}"]`).click();

    await page.getByRole('heading', { name: 'task.created pending' }).waitFor();
    expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0);
    status = 503;
    release(503);
    await page.getByText('exhausted').waitFor();
    expect(await page.getByText('HTTP 503').count()).toBe(4);
    await page.getByText('First byte').first().waitFor();
    const newest = page.getByRole('listitem').filter({ hasText: 'Attempt 4' });
    await newest.getByText('x-cause').waitFor();
    await newest.getByText('"down": true').waitFor();
    // A signature is over the body as it was sent.
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await newest.getByRole('button', { name: 'Copy response body' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('{"down":true}');
    await page.getByRole('button', { name: 'Copy request body' }).click();
    const sent = receiver.received.at(-1)?.raw.toString();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(sent);

    status = undefined;
    await page.getByRole('link', { name: receiver.url }).click();
    const row = page.getByRole('row', { name: /task.created A held task 503 4/ });
    await row.getByText('exhausted').waitFor();
    await row.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The delivery is sent again').waitFor();
    // The whole row is a link.
    await row.locator('td.when').click({ force: true });
    await page.getByText('pending').waitFor();
    await expect.poll(() => receiver.received.length, { timeout: redeliveredWithinMs }).toBe(5);
    release(204);
    await page.getByText('Attempt 5').waitFor();
    await page.getByRole('heading', { name: 'task.created delivered' }).waitFor();
    expect(receiver.received).toHaveLength(5);
  });

  it('counts the events of a pause, and then sends them', { timeout: 240_000 }, async () => {
    const { api } = consoles.service();
    const { receiver, id, params } = await receive();
    const update = async (active: boolean) => successOf<Webhook>(await api.updateWebhook({ params, body: { active } }));
    await update(false);
    const task = await createTask(consoles.service(), 'Missed');
    const isSkipped = async () => {
      const [event] = dataOf<Event[]>(await api.listEvents({ query: `task_id=${task}` }));
      const detail = event && dataOf<EventDetail>(await api.getEvent({ params: { id: event.id } }));
      return detail?.deliveries.some(({ webhookId, state }) => webhookId === id && state === 'skipped');
    };
    await until('the event is skipped', isSkipped);
    await update(true);

    const { page } = await consoles.open({ token: consoles.service().token, path: `/webhooks/${id}` });
    await choose(page, 'Recover since…');
    await page.getByRole('button', { name: 'Count the events' }).click();
    await page.getByText('1 event matches.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(receiver.received).toHaveLength(0);
    await page.getByLabel('Skipped: the webhook was paused').uncheck();
    await page.getByRole('button', { name: 'Count the events' }).click();
    await page.getByText('0 events match.').waitFor();
    await page.getByLabel('Skipped: the webhook was paused').check();
    await page.getByRole('button', { name: 'Count the events' }).click();
    await page.getByRole('button', { name: 'Send 1 event' }).click();
    await page.getByText('1 matched').waitFor();
    const [{ body } = expect.fail('no request')] = await receiver.next(1, redeliveredWithinMs);
    expect(body.data.task.id).toBe(task);
    await page.getByText('1 matched, 1 delivered, 0 failed').waitFor({ timeout: redeliveredWithinMs });
  });

  it('registers a webhook that recovers by itself, and changes that and its maximum', async () => {
    const { api } = consoles.service();
    const receiver = await startReceiver();
    const { page } = await consoles.open({ token: consoles.service().token, path: '/webhooks' });
    await page.getByRole('button', { name: 'Register a webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByLabel('Recover missed events by itself').check();
    await dialog.getByRole('button', { name: 'Register' }).click();
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('definition').filter({ hasText: 'Recovered by itself' }).waitFor();

    await choose(page, 'Edit…');
    await dialog.getByLabel('Recover missed events by itself').uncheck();
    await dialog.getByText('Limits').click();
    const rate = dialog.getByLabel('Attempts per second');
    await rate.fill(String(maxPerSecondLimit + 1));
    await dialog.getByRole('button', { name: 'Save' }).click();
    // The browser says so at the field; no request is made.
    await rate.and(page.locator(':invalid')).waitFor();
    await rate.fill(String(maxPerSecondLimit));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('definition').filter({ hasText: 'Recovered only on request' }).waitFor();
    const id = page.url().split('/').at(-1) as string;
    const changed = { autoRecover: false, maxPerSecond: maxPerSecondLimit };
    expect(dataOf<Webhook>(await api.getWebhook({ params: { id } }))).toMatchObject(changed);
  });

  it('changes a webhook only if nothing else has changed it', async () => {
    const { api } = consoles.service();
    const { id, params } = await receive();
    const opened = await consoles.open({ token: consoles.service().token, path: `/webhooks/${id}` });
    const { page } = opened;
    const edit = async (description: string) => {
      await choose(page, 'Edit…');
      await page.getByLabel('Description').fill(description);
      await page.getByRole('button', { name: 'Save' }).click();
    };
    await edit('The first');
    await page.getByRole('heading', { level: 1, name: 'The first' }).waitFor();
    successOf(await api.updateWebhook({ params, body: { description: 'Of another' } }));
    await edit('The second');
    await page.getByRole('alert').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expectResponses(opened, 412);
    expect(dataOf<Webhook>(await api.getWebhook({ params })).description).toBe('Of another');
  });

  it('replaces the secret, with which the next delivery is signed, and deletes the webhook', async () => {
    const { receiver, id } = await receive();
    const { page } = await consoles.open({ token: consoles.service().token, path: `/webhooks/${id}` });
    await choose(page, 'Rotate the secret…');
    await page.getByRole('button', { name: 'Rotate', exact: true }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    await page.getByRole('button', { name: 'Show the secret' }).click();
    const secret = await page.getByRole('dialog').locator('code').innerText();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await sendTest(page);
    const [{ raw: body, headers } = expect.fail('no request')] = await receiver.next(1);
    await verifyWebhook({ body, headers, secret });
    await page.keyboard.press('Escape');

    await choose(page, 'Delete…');
    await page.getByRole('button', { name: 'Delete the webhook' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete the webhook' }).click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    expect(await page.locator(`a[href*="${id}"]`).count()).toBe(0);
  });

  it('filters deliveries by the URL, and loads more of them', async () => {
    const { api } = consoles.service();
    const { id, params } = await receive();
    for (const event of ['task.created', 'agent.failed', ...Array<string>(49).fill('task.created')])
      successOf<TestResult>(await api.testWebhook({ params, body: { event } }));
    const path = `/webhooks/${id}?view=attempts`;
    const { page } = await consoles.open({ token: consoles.service().token, path });
    await page.getByText('50 of 51').waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('51 of 51').waitFor();
    await page.getByLabel('Event', { exact: true }).selectOption('agent.failed');
    await page.getByText('1 of 1', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('1 of 1', { exact: true }).waitFor();
    await page.getByLabel('Status', { exact: true }).selectOption('failed');
    await page.getByText('No attempts match').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('50 of 51').waitFor();
    const range = page.getByLabel('Time range');
    await range.selectOption('Last 7 days');
    await page.getByText('50 of 51').waitFor();
    expect(page.url()).toContain('since=7d');
    expect(await page.getByLabel('Since').count()).toBe(0);
    await range.selectOption('Own range');
    await page.getByLabel('Since').fill('2019-01-01T00:00');
    await page.getByLabel('Until').fill('2020-01-01T00:00');
    await page.getByLabel('Until').press('Enter');
    await page.getByText('No attempts match').waitFor();
    expect(page.url()).toContain('until=');
    expect(await page.getByLabel('Until').and(page.locator(':focus')).count()).toBe(1);
    await page.reload();
    await page.getByLabel('Until').and(page.locator('[value]')).waitFor();
    await range.selectOption('Any time');
    await page.getByText('50 of 51').waitFor();
  });

  it('shows what receivers and users write as text', async () => {
    const { api } = consoles.service();
    const { id, params } = await receive((response) => response.writeHead(500, { 'X-Hostile': hostile }).end(hostile));
    successOf(await api.updateWebhook({ params, body: { description: hostile } }));
    const { deliveryId } = successOf<TestResult>(await api.testWebhook({ params, body: { event: 'task.created' } }));
    const path = `/webhooks/${id}?view=attempts`;
    const { page } = await consoles.open({ token: consoles.service().token, path });
    await page.getByText(hostile).waitFor();
    await page.locator(`a[href*="${deliveryId}"]`).click();
    await page.getByRole('definition').filter({ hasText: hostile }).waitFor();
    await page.locator('pre').filter({ hasText: hostile }).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
  });

  it('has no actions for a token that can only read', async () => {
    const { id } = await receive();
    const token = await newToken(consoles.service(), 'local', '--scopes', 'webhooks:read');
    const { page } = await consoles.open({ token, path: `/webhooks/${id}` });
    await page.getByRole('button', { name: 'Copy as curl' }).waitFor();
    await page.getByText('No events yet').waitFor();
    const names = await page.locator('main').getByRole('button').allInnerTexts();
    expect(names).toEqual(['Copy as curl', 'Copy']);
  });

  it.each(['light', 'dark'] as const)('fits a phone, and has no accessibility problems (%s)', async (colorScheme) => {
    const { id } = await receive((response) => response.writeHead(500).end('{"why":"down"}'));
    await createTask(consoles.service(), 'A task');
    const [{ deliveryId } = expect.fail('no attempt')] = await attemptsOf(consoles.service(), id, 1);
    const { page } = await consoles.open({ token: consoles.service().token }, { viewport: screens.phone, colorScheme });
    const paths: [string, string][] = [
      ['/webhooks', 'Webhooks'],
      [`/webhooks/${id}`, 'http://127.0.0.1'],
      [`/webhooks/${id}?view=attempts`, 'http://127.0.0.1'],
      [`/webhooks/${id}/deliveries/${deliveryId}`, 'task.created'],
    ];
    for (const [path, heading] of paths) {
      await page.goto(`${consoles.service().url}/#${path}`);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await page.locator('main .status').filter({ hasText: /fail/ }).first().waitFor();
      expect(await page.evaluate('document.getElementById("main").scrollWidth')).toBeLessThanOrEqual(390);
      expect(await page.evaluate(scrollingTables), path).toBe(0);
      expect(await accessibilityProblems(page), path).toEqual([]);
    }
    await page.goto(`${consoles.service().url}/#/webhooks`);
    await page.getByRole('button', { name: 'Register a webhook' }).click();
    await page.getByRole('dialog').getByLabel('URL').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it('works by keyboard only: registers a webhook, opens it and pauses it', async () => {
    const receiver = await startReceiver();
    const { page } = await consoles.open({ token: consoles.service().token, path: '/webhooks' });
    const press = async (target: Locator, key = 'Enter') => {
      await target.waitFor();
      const focused = target.and(page.locator(':focus'));
      for (let count = 0; count < 40 && (await focused.count()) === 0; count++) await page.keyboard.press('Tab');
      expect(await focused.count()).toBe(1);
      if (key) await page.keyboard.press(key);
    };
    const button = (name: string) => page.getByRole('button', { name });
    await press(button('Register a webhook'));
    await press(page.getByLabel('URL'), '');
    await page.keyboard.type(receiver.url);
    await page.keyboard.press('Enter');
    await press(button('I have stored it'));
    await press(button('Pause'));
    await button('Resume').waitFor();
    await press(button('More actions'));
    await page.getByRole('menuitem', { name: 'Edit…' }).press('ArrowUp');
    await page.locator('[role=menuitem][data-highlighted]').filter({ hasText: 'Delete…' }).press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('shows the state and the last 24 hours of each webhook in the list', async () => {
    const { api } = consoles.service();
    const [good, bad] = [await receive(), await receive((response) => response.writeHead(500).end())];
    // More than a page of the list of deliveries can have.
    for (let sent = 0; sent < 120; sent++)
      successOf(await api.testWebhook({ params: good.params, body: { event: 'task.created' } }));
    await createTask(consoles.service(), 'A task');
    const total = async () => paginationOf(await api.listDeliveries({ params: good.params })).total;
    await until('all attempts are made', async () => (await total()) === 121);
    await attemptsOf(consoles.service(), bad.id, 4);
    const { page } = await consoles.open({ token: consoles.service().token, path: '/webhooks' });
    const row = (url: string) => page.getByRole('row').filter({ hasText: url });
    await row(bad.receiver.url).getByText('failing').waitFor();
    await row(bad.receiver.url)
      .getByText(/^since .* ago$/)
      .waitFor();
    await row(good.receiver.url).getByText('active').waitFor();
    await row(good.receiver.url).getByText('121 delivered, 0 failed').waitFor();
    await row(bad.receiver.url).getByText('0 delivered, 4 failed').waitFor();
    await row(bad.receiver.url)
      .getByTitle(/: 0 delivered, \d failed \(\d × 5xx\)$/)
      .first()
      .waitFor();
  });

  it('leads from a failing webhook to the recovery of its events', async () => {
    const { id, params } = await receive((response) => response.writeHead(500).end());
    await createTask(consoles.service(), 'A missed task');
    await attemptsOf(consoles.service(), id, 4);
    const { page } = await consoles.open({ token: consoles.service().token, path: `/webhooks/${id}` });
    await page.getByText('Repair the receiver.').waitFor();
    await page.getByRole('button', { name: /^Recover since / }).click();
    const dialog = page.getByRole('dialog');
    // The event of the first failed attempt occurred before the attempt ended.
    const { failingSince = '' } = dataOf<Webhook>(await consoles.service().api.getWebhook({ params }));
    const since = await dialog.getByLabel('Since').inputValue();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(Date.parse(failingSince) - Date.parse(since)).toBeGreaterThan(0);
    expect(Date.parse(failingSince) - Date.parse(since)).toBeLessThan(3_600_000);
    await dialog.getByLabel('Time range').selectOption('Last hour');
    await dialog.getByLabel('Since').waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: 'Count the events' }).click();
    await page.getByText('1 event matches.').waitFor();
  });
});
