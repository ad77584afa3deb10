import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { EventOfWebhook } from '../../../lib/contract/webhooks/webhook-events.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { dataOf, errorOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { unknownEvent } from '../../values/unknown-event.ts';
import { createChange } from '../../webhooks/test-webhooks.ts';
import { createWebhookCallers } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers();
const caller = newForEachTest(newWebhookCaller);
let id: string;
beforeEach(async () => {
  id = await caller.put();
});

const list = (query = '', webhookId = id) => caller.listWebhookEvents({ params: { id: webhookId }, query });

/** Publishes a new task. */
async function publish(): Promise<void> {
  const context = processContext();
  await publishEvents(
    context,
    createChange(caller.organization, 'task.created', context.clock(), `tk_${context.ulid()}`),
  );
}

describe('the events of a webhook', () => {
  it('are an empty page at first', async () => {
    const answer = await list();
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, data: [], pagination: { limit: 20, next: null } },
    ]);
  });

  it('are read by state, and page by page', async () => {
    await publish();
    await publish();
    const [event] = dataOf<EventOfWebhook[]>(await list('limit=1'));
    const { body } = await list(`limit=1&state=pending`);
    expect(body).toEqual({ success: true, data: [event], pagination: { limit: 1, next: event?.eventId } });
    const rest = await list(`before=${event?.eventId}`);
    expect(dataOf<EventOfWebhook[]>(rest)).toHaveLength(1);
    expect(dataOf(await list('state=exhausted'))).toEqual([]);
  });

  it.each([
    ['before=1', 'before', 'must be an id of the form ev_ followed by a ULID'],
    ['before=tk_01K9Z3T6V0QW8E5R7T9Y1AB2CD', 'before', 'must be an id of the form ev_'],
    ['state=failed', 'state', 'must be one of pending, retrying, delivered, exhausted, skipped'],
    [`event=${unknownEvent}`, 'event', 'must be one of task.created'],
    ['task_id=1', 'task_id', 'must be an id of the form tk_'],
    ['since=2026-03-02T00:00:00Z&until=2026-03-01T00:00:00Z', 'since', 'must not be after until'],
    ['limit=0', 'limit', 'must be at least 1'],
  ])('reject %s', async (query, path, message) => {
    const answer = await list(query);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'validation_failed', details: [{ path }] });
    expect(errorOf(answer).details?.[0]?.message).toContain(message);
  });

  it('have no page above 100', async () =>
    expect((await list('limit=101')).body.pagination).toMatchObject({ limit: 100 }));

  it('are not found for a deleted webhook, nor by another organization', async () => {
    await publish();
    const other = await newWebhookCaller();
    const read = () => other.listWebhookEvents({ params: { id } });
    await other.refuses(read, 404, 'not_found');
    await caller.delete(id);
    await caller.refuses(() => list(), 404, 'not_found');
  });

  it('need webhooks:read', async () => {
    const writer = await newWebhookCaller(['webhooks:write']);
    await writer.refuses(() => writer.listWebhookEvents({ params: { id } }), 403, 'insufficient_scope');
  });
});
