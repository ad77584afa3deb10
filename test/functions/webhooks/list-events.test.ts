import { describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { timestamp, ulidFrom } from '../../../lib/contract/ids.ts';
import type { Event, EventDetail } from '../../../lib/contract/webhooks/event-log.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { deliveryIdOf, eventIdOf } from '../../../lib/webhooks/attempts/derived-ids.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { dataOf, errorOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { unknownEvent } from '../../values/unknown-event.ts';
import { failed, notingSender } from '../../webhooks/test-webhooks.ts';
import { createWebhookCallers } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
const caller = newForEachTest(newWebhookCaller);
const beginning = `ev_${'0'.repeat(26)}`;

/** Publishes a new task, made some seconds ago; returns its event as the log has it. */
async function publish(secondsAgo = 0): Promise<Event & { item: string; changedAt: number }> {
  const context = processContext();
  const changedAt = context.clock() - secondsAgo * 1_000;
  const item = `tk_${context.ulid()}`;
  const event = 'task.created' as const;
  const data = { task: { id: item, title: 'A task', status: 'backlog' as const }, occurredAt: timestamp(changedAt) };
  await publishEvents(context, { organization: caller.organization, item, version: 1, events: [{ event, data }] });
  const id = eventIdOf(changedAt, { item, version: 1, event });
  return { id, event, occurredAt: timestamp(changedAt), data, item, changedAt };
}

const shown = ({ id, event, occurredAt, data }: Event): Event => ({ id, event, occurredAt, data });
const list = (query = '') => caller.listEvents({ query });

describe('the event log', () => {
  it('is an empty page at first, with a next position for followers', async () => {
    expect((await list()).body).toEqual({ success: true, data: [], pagination: { limit: 20, next: null } });
    const { body } = await list(`after=${beginning}&limit=5`);
    const next = expect.stringMatching(/^ev_[0-9A-Z]{26}$/);
    expect(body).toEqual({ success: true, data: [], pagination: { limit: 5, next } });
  });

  it('has the events of tasks newest first, at once and without a webhook, as they are delivered', async () => {
    const events = [await publish(9), await publish(6), await publish()];
    const { status, body } = await list();
    const newestFirst = events.toReversed().map(shown);
    expect([status, body]).toEqual([200, { success: true, data: newestFirst, pagination: { limit: 20, next: null } }]);
    const page = await list('limit=2');
    expect(page.body.pagination).toEqual({ limit: 2, next: events[1]?.id });
    expect(dataOf<Event[]>(await list(`limit=2&before=${events[1]?.id}`))).toEqual(newestFirst.slice(2));
  });

  it('is followed oldest first, by next', async () => {
    const events = [await publish(9), await publish(6)];
    const first = await list(`after=${beginning}&limit=1`);
    expect(dataOf<Event[]>(first)).toEqual(events.slice(0, 1).map(shown));
    const { next } = first.body.pagination as unknown as { next: string };
    const second = await list(`after=${next}&limit=1`);
    expect(dataOf<Event[]>(second)).toEqual(events.slice(1).map(shown));
  });

  it('is filtered by event, task, execution and time', async () => {
    const [one, other] = [await publish(9), await publish(6)];
    const ids = async (query: string) => dataOf<Event[]>(await list(query)).map(({ id }) => id);
    expect(await ids(`task_id=${one.item}`)).toEqual([one.id]);
    expect(await ids(`since=${other.occurredAt}`)).toEqual([other.id]);
    expect(await ids(`until=${one.occurredAt}&event=task.created`)).toEqual([one.id]);
    expect(await ids(`after=${beginning}&since=${one.occurredAt}&until=${one.occurredAt}`)).toEqual([one.id]);
    expect(await ids('event=agent.failed')).toEqual([]);
    expect(await ids(`execution_id=ex_${one.item.slice(3)}`)).toEqual([]);
  });

  it('has no event of another organization', async () => {
    const { id } = await publish();
    const other = await newWebhookCaller();
    expect(dataOf(await other.listEvents())).toEqual([]);
    expect(dataOf(await other.listEvents({ query: `after=${beginning}` }))).toEqual([]);
    await other.refuses(() => other.getEvent({ params: { id } }), 404, 'not_found');
  });

  it.each([
    ['after=1', 'after', 'must be an id of the form ev_ followed by a ULID'],
    ['before=tk_01K9Z3T6V0QW8E5R7T9Y1AB2CD', 'before', 'must be an id of the form ev_'],
    [`after=${beginning}&before=${beginning}`, 'after', 'must not be combined with before'],
    [`event=${unknownEvent}`, 'event', 'must be one of task.created'],
    ['task_id=1', 'task_id', 'must be an id of the form tk_'],
    ['execution_id=1', 'execution_id', 'must be an id of the form ex_'],
    ['since=yesterday', 'since', 'must be a time in ISO 8601'],
    ['since=2026-03-02T00:00:00Z&until=2026-03-01T00:00:00Z', 'since', 'must not be after until'],
    ['limit=0', 'limit', 'must be at least 1'],
  ])('rejects %s', async (query, path, message) => {
    const answer = await list(query);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'validation_failed', details: [{ path }] });
    expect(errorOf(answer).details?.[0]?.message).toContain(message);
  });

  it('rejects an offset, which it does not have', async () => {
    const { details } = await caller.refuses(() => list('offset=1'), 400, 'validation_failed');
    expect(details).toMatchObject([{ path: 'offset', code: 'unknown_field' }]);
  });

  it('needs webhooks:read', async () => {
    const writer = await newWebhookCaller(['webhooks:write']);
    await writer.refuses(() => writer.listEvents(), 403, 'insufficient_scope');
    await writer.refuses(() => writer.getEvent({ params: { id: beginning } }), 403, 'insufficient_scope');
  });
});

describe('an event', () => {
  const get = async (id: string) => dataOf<EventDetail>(await caller.getEvent({ params: { id } }));

  it('has its deliveries, to the webhooks that exist and were subscribed before', async () => {
    const [delivered, retrying, pending, deleted] = [
      await caller.put(),
      await caller.put(),
      await caller.put(),
      await caller.put(),
    ] as [string, string, string, string];
    await caller.put({ events: ['agent.failed'] });
    const published = await publish();
    await caller.put();
    await caller.delete(deleted);
    const { id, item, event, changedAt } = published;
    const idFor = (webhookId: string) => deliveryIdOf(changedAt, { item, version: 1, event, webhookId });
    for (const [webhookId, outcome] of [
      [delivered, {}],
      [retrying, failed],
    ] as const) {
      const deliveryId = idFor(webhookId);
      const { organization } = caller;
      const message: DeliveryMessage = {
        ...{ organization, webhookId, deliveryId, eventId: id, attempt: 1, dueAt: timestamp(changedAt) },
      };
      await deliverWebhook({ ...processContext(), sender: notingSender(outcome).send }, message);
    }
    // It was subscribed when it got the event.
    await caller.edit(delivered, { events: ['agent.failed'] });
    const { deliveries, ...rest } = await get(id);
    expect(rest).toEqual(shown(published));
    const expected = [
      { webhookId: delivered, deliveryId: idFor(delivered), state: 'delivered', attempts: 1 },
      { webhookId: retrying, deliveryId: idFor(retrying), state: 'retrying', attempts: 1 },
      { webhookId: pending, deliveryId: idFor(pending), state: 'pending', attempts: 0 },
    ];
    expect(new Set(deliveries)).toEqual(new Set(expected));
    expect(await caller.redeliver(delivered, idFor(delivered))).toMatchObject({ status: 200 });
    const { deliveries: after } = await get(id);
    expect(after).toContainEqual({ ...expected[0], state: 'pending' });
  });

  it('without webhooks has no deliveries', async () => {
    expect((await get((await publish()).id)).deliveries).toEqual([]);
  });

  it.each([
    ['does not exist', `ev_${ulidFrom(Date.now(), new Uint8Array(10))}`],
    ['is a position', beginning],
    ['is malformed', 'ev_1'],
  ])('that %s is not found', async (_, id) => {
    expect(await caller.refuses(() => caller.getEvent({ params: { id } }), 404, 'not_found')).toMatchObject({
      message: 'The organization has no such event; check the path.',
    });
  });
});
