import { expect, it } from 'vitest';
import type { Event, EventDetail } from '../../../lib/contract/webhooks/event-log.ts';
import type { Webhook } from '../../../lib/contract/webhooks/webhooks.ts';
import { dataOf, successOf } from '../../api.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { startDeployment, until } from '../deployment.ts';
import { attemptsOf, createTask, register } from '../requests.ts';
import { startUnreliable } from '../unreliable-receiver.ts';

const service = await startDeployment();
const { api } = service;

const own = ['webhook.failing', 'webhook.recovered', 'webhook.paused'];

/** Returns the events about a webhook in the log, oldest first, once the log has this number of them. */
function eventsAbout(id: string, count: number): Promise<Event[]> {
  const look = async () => {
    const read = dataOf<Event[]>(await api.listEvents({ query: 'limit=100' }));
    const events = read.filter(({ data }) => 'webhook' in data && data.webhook.id === id);
    return events.length >= count && events.toReversed();
  };
  return until(`the log has ${count} events about ${id}`, look) as Promise<Event[]>;
}

it('another webhook is told when a receiver fails, when it has recovered, and when it is paused', async () => {
  const down = await startUnreliable();
  const watching = await startReceiver();
  const filtering = await startReceiver();
  const id = await register(service, { url: `${down.url}?key=secret`, events: ['task.created', ...own] });
  const watcher = await register(service, { url: watching.url, events: own });
  const taskFilter = { projectId: 'proj_website' };
  successOf(await api.registerWebhook({ body: { url: filtering.url, events: own, taskFilter } }));
  const params = { id };
  const sendTest = async () =>
    successOf<{ httpStatus: number }>(await api.testWebhook({ params, body: { event: 'webhook.failing' } })).httpStatus;
  const get = async () => dataOf<Webhook>(await api.getWebhook({ params }));
  const host = new URL(down.url).host;

  // Failed tests count for nothing.
  expect([await sendTest(), await sendTest(), await sendTest()]).toEqual([500, 500, 500]);
  for (const title of ['One', 'Two', 'Three', 'Four']) await createTask(service, title);
  await watching.next(1);
  const { failingSince } = await get();
  await attemptsOf(service, id, 7);
  down.state.isDown = false;
  expect(await sendTest()).toBe(204);
  await watching.next(2);
  successOf(await api.updateWebhook({ params, body: { active: false, description: 'Orders' } }));
  await watching.next(3);

  const webhook = { id, host, active: true, failingSince };
  const [failing, recovered, paused] = watching.received.map(({ body }) => body);
  expect(failing).toMatchObject({ event: 'webhook.failing', data: { webhook } });
  expect(recovered).toMatchObject({ event: 'webhook.recovered', data: { webhook } });
  const pausedWebhook = { id, host, description: 'Orders', active: false };
  expect(paused).toMatchObject({ event: 'webhook.paused', data: { webhook: pausedWebhook } });
  expect(JSON.stringify(watching.received.map(({ body }) => body))).not.toContain('key=secret');

  const events = await eventsAbout(id, 3);
  expect(events.map(({ event }) => event)).toEqual(own);
  for (const event of events) {
    const { deliveries } = dataOf<EventDetail>(await api.getEvent({ params: { id: event.id } }));
    expect(deliveries.map(({ webhookId }) => webhookId)).toEqual([watcher]);
  }
  expect(filtering.received).toEqual([]);
  const toItself = down.received.filter(({ body }) => body.event !== 'task.created');
  expect(toItself).toHaveLength(4);
});

it('two webhooks that watch each other while both receivers are down have one event each', async () => {
  const receivers = [await startUnreliable(), await startUnreliable()] as const;
  const ids: string[] = [];
  for (const { url } of receivers) ids.push(await register(service, { url, events: ['task.created', ...own] }));
  for (const title of ['One', 'Two', 'Three']) await createTask(service, title);
  for (const id of ids) await eventsAbout(id, 1);
  // Each has failed to receive three tasks, and the event about the other one.
  for (const receiver of receivers) await until('all have arrived', () => receiver.received.length >= 4);
  for (const { state } of receivers) state.isDown = false;
  await createTask(service, 'Four');
  for (const id of ids)
    expect((await eventsAbout(id, 2)).map(({ event }) => event)).toEqual(['webhook.failing', 'webhook.recovered']);
});
