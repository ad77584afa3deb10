import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../../../lib/client/operations.ts';
import { successOf } from '../../../api.ts';
import { createAgent, createTask, endOf, execute, moveTask, newScript } from '../../../journeys/requests.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import { accessibilityProblems } from '../axe.ts';
import { program, screens, useConsole } from '../console.ts';

const hostile = '<img src=x onerror="document.title=1">';

describe.runIf(program)('the event log in the console', () => {
  const consoles = useConsole({ environment: { MODEL_SCRIPT: newScript([{ match: 'Be refused', refusal: true }]) } });
  const openLog = (path = '/events', options: BrowserContextOptions = { viewport: screens.desktop }) =>
    consoles.open({ token: consoles.service().token, path }, options);

  it('shows new events at the top, and behind a button while an event is read', async () => {
    const { page } = await openLog();
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    const task = await createTask(consoles.service(), 'The first task');
    const first = page.getByRole('button', { name: 'The first task' });
    await first.click();
    await page.locator('pre').filter({ hasText: task }).waitFor();
    await page.getByText('No webhook was subscribed to this event.').waitFor();
    const before = await first.boundingBox();

    await createTask(consoles.service(), 'The second task');
    const button = page.getByRole('button', { name: '1 new' });
    await button.waitFor();
    expect(await page.getByRole('button', { name: 'The second task' }).count()).toBe(0);
    expect(await first.boundingBox()).toEqual(before);
    await button.click();
    await page.getByRole('listitem').first().getByText('The second task').waitFor();
    await page.getByRole('link', { name: 'Open the task' }).click();
    await page.getByRole('dialog', { name: 'The first task' }).waitFor();
  });

  it('leads to the delivery of an event, which counts down to its next attempt', async () => {
    const { api } = consoles.service();
    const receiver = await startReceiver((response) => response.writeHead(500).end());
    const taskFilter = { projectId: 'proj_countdown' };
    successOf(await api.registerWebhook({ body: { url: receiver.url, events: ['task.created'], taskFilter } }));
    const { id } = successOf(await api.createTask({ body: { title: 'A delivered task', ...taskFilter } }));
    await receiver.next(1);
    const { page } = await openLog(`/events?task=${id}`);
    await page.getByRole('button', { name: 'A delivered task' }).click();
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByRole('heading', { name: 'task.created retrying' }).waitFor();
    await page.getByText(/^in 00:0[0-5]:[0-5]\d$/).waitFor();
    await page.getByRole('link', { name: /^ev_/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Event' }).waitFor();
    await page.locator('pre').filter({ hasText: id }).waitFor();
    await page.getByRole('link', { name: receiver.url }).waitFor();
    expect(await page.getByRole('list', { name: 'Events' }).locator('> li').count()).toBe(1);
    await page.getByRole('link', { name: 'Show all events' }).click();
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
  });

  it('marks failed runs, copies their data, and filters by time', async () => {
    const agent = await createAgent(consoles.service(), 'refused');
    const run = await execute(consoles.service(), agent, 'Be refused');
    await endOf(consoles.service(), agent, run);
    const { page } = await openLog(`/events?execution=${run}`);
    await page.locator('.status-failed').filter({ hasText: 'agent.failed' }).waitFor();
    await page.getByRole('button', { name: 'agent.failed' }).click();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy payload' }).click();
    await page.getByText('Payload: the text is copied.').waitFor();
    expect(JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()'))).toMatchObject({
      execution: { id: run },
    });

    await page.getByLabel('Time range').selectOption('Last hour');
    await page.getByRole('button', { name: 'agent.failed' }).waitFor();
    expect(page.url()).toContain('since=1h');
    await page.getByLabel('Time range').selectOption('Own range');
    await page.getByLabel('Since').fill('2019-01-01T00:00');
    await page.getByLabel('Until').fill('2020-01-01T00:00');
    await page.getByLabel('Until').press('Enter');
    await page.getByText('No events match').waitFor();
  });

  it('shows an event about a webhook, with a link to the webhook', async () => {
    const { api } = consoles.service();
    const body = {
      url: 'https://hooks.example.com/crewboard?key=secret',
      events: ['task.completed'],
      description: 'CRM',
    };
    const { id } = successOf(await api.registerWebhook({ body }));
    const { page } = await openLog();
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    successOf(await api.updateWebhook({ params: { id }, body: { active: false } }));
    await page.getByRole('button', { name: 'webhook.paused CRM (hooks.example.com)' }).click();
    await page.getByLabel('Event', { exact: true }).selectOption('webhook.paused');
    await page.getByRole('button', { name: 'webhook.paused CRM (hooks.example.com)' }).click();
    await page.getByRole('link', { name: 'Open the webhook' }).click();
    await page.getByText(id).first().waitFor();
    expect(page.url()).toContain(`/webhooks/${id}`);
    await page.goto(new URL('/', page.url()).href);
    const latest = page.getByRole('region', { name: 'Latest events' });
    await latest.getByRole('link', { name: 'CRM' }).waitFor();
  });

  it('loads earlier events, and adds new ones to a scrolled list only when they are wanted', async () => {
    const marker = 'Many';
    for (let number = 1; number <= 55; number++) await createTask(consoles.service(), `${marker} ${number}`);
    const { page } = await openLog();
    await page.getByRole('button', { name: `${marker} 55` }).waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByRole('button', { name: `${marker} 1 (` }).scrollIntoViewIfNeeded();
    await createTask(consoles.service(), 'A late task');
    await page.getByRole('button', { name: '1 new' }).click();
    await page.getByRole('listitem').first().getByText('A late task').waitFor();
    expect(await page.evaluate('document.getElementById("main").scrollTop')).toBe(0);
  });

  it('keeps each new event, once, also if an earlier page has it because it was published late', async () => {
    for (let number = 1; number <= 55; number++) await createTask(consoles.service(), `Early ${number}`);
    const { page } = await openLog();
    await page.getByRole('button', { name: 'Early 55' }).waitFor();
    const titles = ['The first arrival', 'The second arrival', 'The third arrival'];
    for (const title of titles) await createTask(consoles.service(), title);
    for (const title of titles) await page.getByRole('button', { name: title }).waitFor();
    const [newest] = successOf<Event[]>(await consoles.service().api.listEvents({ query: 'limit=1' }));
    await page.route('**/api/webhooks/events?*before=*', async (route) => {
      const response = await route.fetch();
      const { data, ...rest } = (await response.json()) as { data: Event[] };
      await route.fulfill({ response, json: { ...rest, data: [newest, ...data] } });
    });
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByRole('button', { name: 'Early 1 (' }).waitFor();
    for (const title of titles) expect(await page.getByRole('button', { name: title }).count()).toBe(1);
  });

  it('filters by the URL, also what is new', async () => {
    const wanted = await createTask(consoles.service(), 'The wanted task');
    const other = await createTask(consoles.service(), 'Another task');
    const { page } = await openLog();
    await page.getByRole('button', { name: 'The wanted task' }).waitFor();
    await page.getByLabel('Task id').fill(wanted);
    await page.getByLabel('Task id').press('Enter');
    await page.getByRole('button', { name: 'Another task' }).waitFor({ state: 'detached' });
    expect(page.url()).toContain(wanted);
    await page.reload();
    await page.getByRole('button', { name: 'The wanted task' }).waitFor();
    await moveTask(consoles.service(), other, 'done');
    await moveTask(consoles.service(), wanted, 'done');
    await page.getByRole('button', { name: /task.completed The wanted task/ }).waitFor();
    expect(await page.getByRole('button', { name: 'Another task' }).count()).toBe(0);
    await page.getByLabel('Event', { exact: true }).selectOption('agent.failed');
    await page.getByText('No events match').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: 'Another task' }).first().waitFor();
  });

  it.each(['light', 'dark'] as const)(
    'shows hostile texts as text, on a phone, accessible (%s)',
    async (colorScheme) => {
      await createTask(consoles.service(), `${hostile} ${colorScheme}`);
      const { page } = await openLog('/events', { viewport: screens.phone, colorScheme });
      await page.getByRole('button', { name: `${hostile} ${colorScheme}` }).click();
      await page.locator('pre').filter({ hasText: 'onerror' }).waitFor();
      await page.getByText('No webhook was subscribed to this event.').waitFor();
      expect(await page.locator('main img').count()).toBe(0);
      expect(await page.evaluate('document.getElementById("main").scrollWidth')).toBeLessThanOrEqual(390);
      expect(await accessibilityProblems(page)).toEqual([]);
    },
  );

  it('opens and closes an event by keyboard only', async () => {
    const task = await createTask(consoles.service(), 'By keyboard');
    const { page } = await openLog(`/events?task=${task}`);
    const row = page.getByRole('button', { name: 'By keyboard' });
    await row.waitFor();
    const focused = row.and(page.locator(':focus'));
    for (let count = 0; count < 40 && (await focused.count()) === 0; count++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('pre').filter({ hasText: task }).waitFor();
    await page.keyboard.press('Space');
    await page.locator('pre').waitFor({ state: 'detached' });
  });
});
