import { beforeEach, describe, expect, it } from 'vitest';
import { findDifferences, repairDifferences } from '../../../infra/cli/reconcile/differences.ts';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import type { PublicEvent } from '../../../lib/contract/webhooks/events.ts';
import type { WebhookPatch } from '../../../lib/contract/webhooks/webhooks.ts';
import { executionEvents } from '../../../lib/executions/execution-events.ts';
import type { TaskFields } from '../../../lib/table/webhooks/task-filters.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import type { Change } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { getWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { runningExecution } from '../../table/executions/execution-table.ts';
import { prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});

const [projectId, assignedAgent] = ['proj_website', 'builder'];
const ofProject = { taskFilter: { projectId } };

/** Returns the change that creates a task with these fields. */
function taskChange(fields: TaskFields): Change {
  const change = webhooks.change();
  const [{ event, data }] = change.events as [Extract<PublicEvent, { event: `task.${string}` }>];
  return { ...change, events: [{ event, data: { ...data, task: { ...data.task, ...fields } } } as PublicEvent] };
}

/** Returns the change that starts an execution now; `taskFields` are the fields of its task. */
function executionChange(taskFields?: TaskFields): Change {
  const { organization, clock, ulid } = webhooks;
  const [id, startedAt] = [`ex_${ulid()}`, timestamp(clock())];
  const execution = runningExecution({ organization, id, startedAt, ...(taskFields && { taskFields }) });
  return { organization, item: id, version: 1, events: executionEvents(undefined, execution) };
}

/** Sweeps when lost messages count as lost; returns the messages that are sent. */
async function sweepLater() {
  later(15 * 60_000);
  const before = webhooks.queue.sent.length;
  await sweepDeliveries(webhooks, { until: webhooks.clock() });
  return webhooks.queue.sent.slice(before).map(({ message }) => message);
}

const isSent = async (change: Change) => (await webhooks.publish(change)).length > 0;
const edit = (id: string, patch: WebhookPatch) => updateWebhook(webhooks, webhooks.organization, id, patch, () => {});
const later = (ms = 1) => {
  webhooks.clock.now += ms;
};
const differences = () => findDifferences(webhooks.table, webhooks.organization, '2026-03-01T12:00:00.000Z');
const compare = () => {
  const now = webhooks.clock() + 24 * 3_600_000;
  return compareDeliveries(webhooks, webhooks.organization, { from: startTime, to: now, now });
};

describe('a webhook with a filter', () => {
  it.each<[string, TaskFields, boolean]>([
    ['both values', { projectId, assignedAgent }, true],
    ['another agent', { projectId, assignedAgent: 'reader' }, false],
    ['another project', { projectId: 'proj_shop', assignedAgent }, false],
    ['one of the values only', { projectId }, false],
    ['neither value', {}, false],
  ])('for a project and an agent, asked about a task with %s, decides by both', async (_, fields, expected) => {
    await webhooks.register({ taskFilter: { projectId, assignedAgent } });
    expect(await isSent(taskChange(fields))).toBe(expected);
  });

  it('receives the events of executions on matching tasks, and none of executions without a task', async () => {
    await webhooks.register({ events: ['agent.spawned'], ...ofProject });
    expect(await isSent(executionChange({ projectId, assignedAgent: 'reader' }))).toBe(true);
    expect(await isSent(executionChange({ projectId: 'proj_shop' }))).toBe(false);
    expect(await isSent(executionChange())).toBe(false);
  });

  it('costs no message for other tasks, and their events are in the log and never count as lost', async () => {
    await webhooks.register(ofProject);
    const all = await webhooks.register();
    expect(await webhooks.publish(taskChange({}))).toMatchObject([{ webhookId: all.id }]);
    later();
    expect(await webhooks.publish(taskChange({ projectId }))).toHaveLength(2);
    const { events, deliveries, lost } = await compare();
    expect([events, deliveries, lost.length]).toEqual([2, 3, 3]);
  });

  it('gets the lost message of an event again, but only of one that matches', async () => {
    // A sweep is over the whole table.
    webhooks = (await prepareTestWebhooks())();
    const { id } = await webhooks.register(ofProject);
    await webhooks.publish(taskChange({ projectId: 'proj_shop' }));
    expect(await sweepLater()).toEqual([]);
    await webhooks.publish(taskChange({ projectId: 'proj_shop' }));
    const [message] = await webhooks.publish(taskChange({ projectId }));
    expect(message).toMatchObject({ webhookId: id });
    expect(await sweepLater()).toEqual([message]);
  });
});

describe('a change of the filter', () => {
  it('takes effect for each change of a task after it', async () => {
    const { id } = await webhooks.register({ events: ['task.created', 'task.completed'] });
    later();
    await edit(id, ofProject);
    expect(await isSent(taskChange({}))).toBe(false);
    expect(await isSent(taskChange({ projectId }))).toBe(true);
    later();
    await edit(id, { taskFilter: null });
    expect(await isSent(taskChange({}))).toBe(true);
    expect(await isSent(executionChange())).toBe(false);
  });

  it('leaves earlier events to the earlier filter, however late they are published', async () => {
    const { id } = await webhooks.register(ofProject);
    const [matching, other] = [taskChange({ projectId }), taskChange({ projectId: 'proj_shop' })];
    later();
    await edit(id, { taskFilter: { projectId: 'proj_shop' } });
    later();
    await edit(id, { taskFilter: null });
    expect([await isSent(matching), await isSent(other)]).toEqual([true, false]);
    expect(await compare()).toMatchObject({ events: 2, deliveries: 1, lost: [{ webhookId: id }] });
  });

  it('of a webhook that never had one leaves it all earlier events, and those before it none', async () => {
    const before = taskChange({ projectId });
    later();
    const { id } = await webhooks.register();
    const change = taskChange({});
    later();
    await edit(id, ofProject);
    expect([await isSent(before), await isSent(change)]).toEqual([false, true]);
  });

  it('keeps the time of an event that was added later', async () => {
    const { id } = await webhooks.register({ events: ['task.completed'] });
    const earlier = taskChange({ projectId });
    later();
    await edit(id, { events: ['task.created'] });
    later();
    await edit(id, ofProject);
    expect([await isSent(earlier), await isSent(taskChange({ projectId }))]).toEqual([false, true]);
  });

  it('applies to an event that is added at the same time or later', async () => {
    const { id } = await webhooks.register({ events: ['task.completed'] });
    later();
    await edit(id, { events: ['task.completed', 'agent.spawned'], ...ofProject });
    later();
    await edit(id, { events: ['task.created', 'agent.spawned'] });
    expect([await isSent(taskChange({})), await isSent(taskChange({ projectId }))]).toEqual([false, true]);
    expect([await isSent(executionChange({})), await isSent(executionChange({ projectId }))]).toEqual([false, true]);
    expect(await differences()).toEqual([]);
  });

  it('keeps the ten newest filters; an event before them is not sent', async () => {
    const { id } = await webhooks.register(ofProject);
    const first = taskChange({ projectId });
    later();
    await edit(id, { taskFilter: { projectId: 'proj_1' } });
    const second = taskChange({ projectId: 'proj_1' });
    for (let nth = 2; nth <= 10; nth++) {
      later();
      await edit(id, { taskFilter: { projectId: `proj_${nth}` } });
    }
    expect([await isSent(first), await isSent(second)]).toEqual([false, true]);
    expect(await isSent(taskChange({ projectId: 'proj_10' }))).toBe(true);
  });

  it('loses no other field, and a change of another field keeps the filter', async () => {
    const { id } = await webhooks.register({ description: 'Staging' });
    await edit(id, ofProject);
    await edit(id, { url: 'https://example.com/new', description: null });
    const { data, version } = await getWebhook(webhooks, webhooks.organization, id);
    expect(data).toEqual({
      ...{ id, url: 'https://example.com/new', events: ['task.created'], signed: false, active: true },
      ...{ taskFilter: { projectId }, createdAt: expect.any(String) },
    });
    expect(version).toBe(3);
  });
});

it('reconcile repairs a subscription that has another filter than its webhook', async () => {
  const { id } = await webhooks.register(ofProject);
  expect(await differences()).toEqual([]);
  const { organization, table } = webhooks;
  const stored = await webhooks.dump();
  const row = Object.values(stored).find(
    (item) => (item as { pk: string; sk: string }).pk.includes('#S#') && (item as { sk: string }).sk === ulidOf(id),
  ) as Record<string, unknown>;
  const { taskFilters, ...withoutFilter } = row;
  await repairDifferences(table, [{ of: 'item', key: row as never, stored: row, expected: withoutFilter }]);
  const found = await findDifferences(table, organization, '2026-03-01T12:00:00.000Z');
  expect(found).toMatchObject([{ of: 'item', stored: withoutFilter, expected: row }]);
  await repairDifferences(table, found);
  expect(await webhooks.dump()).toEqual(stored);
});
