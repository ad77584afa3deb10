import { expect, it } from 'vitest';
import { createClient } from '../../../lib/client/client.ts';
import type { Event, EventDetail } from '../../../lib/client/operations.ts';
import { verifyWebhook } from '../../../lib/client/verify-webhook.ts';
import { dataOf, errorOf } from '../../api.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { startDeployment, until } from '../deployment.ts';
import { createTask, endOf, execute, moveTask, newToken, register } from '../requests.ts';

const beginning = `ev_${'0'.repeat(26)}`;

/** Follows the log of a service from a position on, until it has seen an event of each of these items. */
async function follow(service: { url: string; token: string }, after: string, items: readonly string[]) {
  const client = createClient(service);
  const events = new Map<string, Event>();
  const seenItems = () => new Set([...events.values()].map(itemOf));
  await until('a follower has seen all items', async () => {
    const { data, pagination } = await client.listEvents({ query: { after, limit: 2 } });
    for (const event of data) events.set(event.id, event);
    after = pagination.next ?? after;
    return data.length === 0 && items.every((item) => seenItems().has(item));
  });
  return { events: [...events.values()], after };
}

const itemOf = ({ data }: Event) => ('task' in data ? data.task.id : 'execution' in data ? data.execution.id : '');
const namesOf = (events: readonly Event[], item: string) =>
  events
    .filter((event) => itemOf(event) === item)
    .map(({ event }) => event)
    .sort();

it('a follower gets the events of all changes, as they are delivered, also after the service was killed', async () => {
  const service = await startDeployment();
  const receiver = await startReceiver();
  const secret = 'a secret';
  const webhookId = await register(service, { url: receiver.url, events: ['task.completed'], secret });
  const tasks = await Promise.all(['One', 'Two', 'Three'].map((title) => createTask(service, title)));
  const [one] = tasks as [string];
  await moveTask(service, one, 'done');
  const executionId = await execute(service, 'qa-reviewer', 'Look at it.');
  await endOf(service, 'qa-reviewer', executionId);
  const first = await follow(service, beginning, [...tasks, executionId]);
  const all = await until('the log has both events of the execution', async () => {
    const { data } = await createClient(service).listEvents({ query: { execution_id: executionId } });
    return data.length === 2 && data;
  });
  expect((all as Event[]).map(({ event }) => event)).toEqual(['agent.completed', 'agent.spawned']);

  const [delivered] = await receiver.next(1);
  const { raw: body, headers } = delivered as NonNullable<typeof delivered>;
  const delivery = await verifyWebhook({ body, headers, secret });
  const completed = first.events.find(({ event }) => event === 'task.completed') as Event;
  expect(delivery.data).toEqual(completed.data);
  expect(completed.occurredAt).toBe(delivery.data.occurredAt);
  await until('the event is delivered', async () => {
    const { deliveries } = dataOf<EventDetail>(await service.api.getEvent({ params: { id: completed.id } }));
    return deliveries[0]?.state === 'delivered';
  });
  expect(dataOf(await service.api.getEvent({ params: { id: completed.id } }))).toEqual({
    ...completed,
    deliveries: [{ webhookId, deliveryId: delivery.deliveryId, state: 'delivered', attempts: 1 }],
  });

  const late = await createTask(service, 'Just before the kill');
  await service.stop('SIGKILL');
  const { dataFolder } = service;
  const restarted = await startDeployment({ dataFolder });
  const { events } = await follow(restarted, first.after, [late]);
  expect(namesOf(events, late)).toEqual(['task.created']);
  const again = await follow(restarted, beginning, [...tasks, executionId, late]);
  for (const task of tasks.slice(1)) expect(namesOf(again.events, task)).toEqual(['task.created']);
  expect(namesOf(again.events, one)).toEqual(['task.completed', 'task.created', 'task.status_changed']);
  expect(namesOf(again.events, executionId)).toEqual(['agent.completed', 'agent.spawned']);

  const token = await newToken(restarted, 'other', '--scopes', 'webhooks:read');
  expect(dataOf(await restarted.api.listEvents({ token, query: `after=${beginning}` }))).toEqual([]);
  const hidden = await restarted.api.getEvent({ token, params: { id: completed.id } });
  expect([hidden.status, errorOf(hidden)?.code]).toEqual([404, 'not_found']);
  const wrong = await restarted.api.listEvents({ query: `after=${beginning}&before=${beginning}` });
  expect([wrong.status, errorOf(wrong)?.code]).toEqual([400, 'validation_failed']);
  const writer = await newToken(restarted, 'other', '--scopes', 'webhooks:write');
  expect((await restarted.api.listEvents({ token: writer })).status).toBe(403);
});
