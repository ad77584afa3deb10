import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { type Key, keys } from '../../../lib/table/access/keys.ts';
import { markWebhookSlow } from '../../../lib/table/webhooks/webhook-attempts.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { deleteWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { failed, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const minuteMs = 60_000;
const allTime = Date.parse('9999-12-31T23:59:59.999Z');
/** When the first retry of an attempt at the start is due. */
const retryDue = startTime + 5 * minuteMs;
let webhooks: TestWebhooks;

// A sweep is over the whole table, so each test has one of its own.
beforeEach(async () => {
  webhooks = (await prepareTestWebhooks())();
});

async function sweep(until = webhooks.clock()) {
  const before = webhooks.queue.sent.length;
  await sweepDeliveries(webhooks, { until });
  return webhooks.queue.sent.slice(before);
}

/** Sweeps at a time, and returns what that sends, counts as woken and as missing, and the longest wait. */
async function sweepAt(now: number) {
  webhooks.clock.now = now;
  const before = webhooks.queue.sent.length;
  const { counts, waits, woken } = await sweepDeliveries(webhooks, { until: now });
  const sent = webhooks.queue.sent.slice(before);
  return { sent, woken, missing: counts.WorkLost ?? 0, late: waits.DeliveriesLate };
}

describe('the sweep of retries', () => {
  it('sends nothing where nothing waits', async () => {
    await webhooks.message();
    expect(await sweep(allTime)).toEqual([]);
  });

  it('sends a retry whose message was lost for a minute, again each five minutes, and measures the wait since it was due', async () => {
    const message = await webhooks.retry();
    for (const minutes of [1, 6, 11]) {
      const due = retryDue + minutes * minuteMs;
      expect(await sweepAt(due - 1)).toMatchObject({ sent: [], late: 0 });
      const sent = [{ to: 'firstRetry', message, delaySeconds: 0 }];
      expect(await sweepAt(due)).toMatchObject({ sent, late: minutes * 60 });
    }
  });

  it('sends each once when two sweeps run at the same time', async () => {
    await webhooks.retry();
    for (let more = 0; more < 9; more++) await webhooks.retry(await webhooks.nextMessage());
    webhooks.clock.now = retryDue + minuteMs;
    const before = webhooks.queue.sent.length;
    await Promise.all([sweep(), sweep()]);
    const sent = webhooks.queue.sent.slice(before).map(({ message }) => message.deliveryId);
    expect(sent).toHaveLength(10);
    expect(new Set(sent).size).toBe(10);
  });

  it('sends all that waits when it is given all time to come, also a moment after it has', async () => {
    await webhooks.retry();
    await webhooks.retry(await webhooks.nextMessage());
    expect(await sweep(allTime)).toHaveLength(2);
    expect(await sweep(allTime)).toHaveLength(2);
  });

  it('changes nothing of an attempt but when it is swept next', async () => {
    await webhooks.retry();
    const logged = async () => Object.entries(await webhooks.dump()).filter(([key]) => key.includes(' A#'));
    const before = await logged();
    webhooks.clock.now = retryDue + minuteMs;
    await sweep();
    const moved = before.map(([key, item]) => [key, { ...(item as object), dueAt: '2026-03-01T12:11:00.000Z' }]);
    expect(await logged()).toEqual(moved);
  });
});

describe('the check of events', () => {
  /** The check of the first five minutes, and the time when it is made again if it has an open attempt. */
  const checkAt = startTime + 7 * minuteMs;
  const againAt = checkAt + 5 * minuteMs;
  let id: string;
  let message: DeliveryMessage;

  beforeEach(async () => {
    ({ id } = await webhooks.register());
    message = await webhooks.nextMessage();
  });

  const nothing = { sent: [], woken: 0, missing: 0, late: 0 };
  const sent = () => [{ to: 'deliveries', message, delaySeconds: 0 }];

  /** The keys of the items that a sweep looks at. */
  const readListed = async () =>
    Object.entries(await webhooks.dump()).flatMap(([key, item]) => ('dueAt' in (item as object) ? [key] : []));

  it('is one item for all events of five minutes with a subscriber, whose process writes it once', async () => {
    const written: number[] = [];
    const table = interceptTable(webhooks.table, (send, { input }) => {
      if (JSON.stringify(input).includes('#EC"')) written.push(webhooks.clock());
      return send();
    });
    const process = { ...webhooks.createContainer(), table };
    for (let second = 0; second < 600; second += 100) {
      webhooks.clock.now = startTime + second * 1_000;
      await publishEvents(process, webhooks.change());
    }
    expect(written).toEqual([startTime, startTime + 5 * minuteMs]);
    webhooks.clock.now += 5 * minuteMs;
    await publishEvents(process, webhooks.change('task.completed'));
    expect(written).toHaveLength(2);
    expect(await readListed()).toHaveLength(2);
  });

  it('sends a lost first attempt again, measures how long it waits, and counts it if it is lost again', async () => {
    expect(await sweepAt(checkAt - 1)).toEqual(nothing);
    expect(await sweepAt(checkAt)).toEqual({ sent: sent(), woken: 1, missing: 0, late: 420 });
    expect(await sweepAt(againAt - 1)).toEqual(nothing);
    expect(await sweepAt(againAt)).toEqual({ sent: sent(), woken: 1, missing: 0, late: 720 });
    const thirdAt = againAt + 5 * minuteMs;
    expect(await sweepAt(thirdAt)).toEqual({ sent: sent(), woken: 1, missing: 1, late: 1_020 });
  });

  it('is not made again when all first attempts were made', async () => {
    await webhooks.attempt(message, failed);
    // Begun late, so that its row has another place.
    webhooks.clock.now = startTime + 2 * minuteMs;
    await webhooks.attempt(await webhooks.nextMessage());
    webhooks.clock.now += 2 * minuteMs;
    await webhooks.attempt(await webhooks.nextMessage());
    expect((await sweepAt(checkAt)).sent).toMatchObject([{ to: 'firstRetry' }]);
    // Of the retry, which is listed by itself.
    expect(await readListed()).toEqual([expect.stringContaining(' A#')]);
  });

  it('reads an event without an open attempt once, although a later one is open', async () => {
    for (const _ of [1, 2, 3]) {
      webhooks.clock.now += 1_000;
      await webhooks.attempt(await webhooks.nextMessage());
    }
    await webhooks.attempt(message);
    webhooks.clock.now += 1_000;
    message = await webhooks.nextMessage();
    webhooks.clock.now += 1_000;
    await webhooks.attempt(await webhooks.nextMessage());
    const read: string[] = [];
    const table = interceptTable(webhooks.table, async (send, { input }) => {
      const answer = await send();
      if (/:pk":"[^"]+#E"/.test(JSON.stringify(input)))
        read.push(...((answer as { Items: { sk: string }[] }).Items ?? []).map(({ sk }) => sk));
      return answer;
    });
    for (const [at, events] of [
      [checkAt, 6],
      [againAt, 2],
    ] as const) {
      webhooks.clock.now = at;
      read.length = 0;
      await sweepDeliveries({ ...webhooks, table }, { until: at });
      expect(read).toHaveLength(events);
    }
  });

  it('is continued by the next sweep if the time is over, also after an open attempt', async () => {
    const messages = [message];
    for (let nth = 0; nth < 450; nth++) {
      webhooks.clock.now += 100;
      messages.push(await webhooks.nextMessage());
    }
    await Promise.all(messages.slice(1).map((one) => webhooks.attempt(one)));
    let steps = 0;
    const found: string[] = [];
    webhooks.clock.now = checkAt;
    for (let nth = 0; nth < 5; nth++) {
      const before = webhooks.queue.sent.length;
      // Time for one step of a sweep, and one step of a check.
      steps = 2;
      await sweepDeliveries(webhooks, { until: webhooks.clock(), hasTime: () => steps-- > 0 });
      found.push(...webhooks.queue.sent.slice(before).map(({ message: one }) => one.deliveryId));
    }
    expect(found).toEqual([message.deliveryId]);
    await webhooks.attempt(message);
    expect(await sweepAt(againAt)).toEqual(nothing);
    expect(await readListed()).toEqual([]);
  });

  it('covers an event that is published after the check of its time', async () => {
    const late = webhooks.change();
    await webhooks.attempt(message);
    expect(await sweepAt(checkAt)).toEqual(nothing);
    expect(await readListed()).toEqual([]);
    [message] = (await webhooks.publish(late)) as [DeliveryMessage];
    expect(await sweepAt(checkAt + 2 * minuteMs)).toMatchObject({ sent: sent(), woken: 1 });
  });

  it('is not made again for an event that its webhook skips', async () => {
    // The event has the time of the pause.
    await updateWebhook(webhooks, webhooks.organization, id, { active: false }, () => {});
    expect(await sweepAt(checkAt)).toEqual(nothing);
    expect(await readListed()).toEqual([]);
  });

  it('parks the first attempt of an event from before a pause, although its message is lost', async () => {
    webhooks.clock.now += 1;
    await updateWebhook(webhooks, webhooks.organization, id, { active: false }, () => {});
    expect(await sweepAt(checkAt)).toEqual(nothing);
    expect(await readListed()).toEqual([]);
    webhooks.clock.now = startTime + 24 * 60 * minuteMs;
    await updateWebhook(webhooks, webhooks.organization, id, { active: true }, () => {});
    const released = [{ to: 'deliveries', message: { ...message, parked: true }, delaySeconds: 0 }];
    expect(await sweepAt(webhooks.clock())).toEqual({ ...nothing, sent: released, woken: 1 });
  });

  it('finds a lost first attempt for a slow webhook as soon as others', async () => {
    await markWebhookSlow(webhooks, webhooks.organization, id);
    expect(await sweepAt(checkAt)).toMatchObject({ sent: sent(), woken: 1 });
  });

  it('ends with a deleted webhook, and ignores one that was registered after the event', async () => {
    await deleteWebhook(webhooks, webhooks.organization, id, () => {});
    webhooks.clock.now += 1;
    await webhooks.register();
    expect(await sweepAt(checkAt)).toEqual(nothing);
    expect(await readListed()).toEqual([]);
  });

  it('is also made for an event that an earlier version has listed', async () => {
    await webhooks.attempt(message);
    webhooks.clock.now += 6 * minuteMs;
    message = await webhooks.nextMessage();
    const { table, organization } = webhooks;
    for (const [key, item] of Object.entries(await webhooks.dump()))
      if (key.includes('#EC ')) {
        const { pk, sk } = item as Key;
        await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
      }
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.event(organization, ulidOf(message.eventId as string)),
        UpdateExpression: 'SET due = :due, dueAt = :dueAt',
        ExpressionAttributeValues: { ':due': 'd0', ':dueAt': timestamp(webhooks.clock() + 2 * minuteMs) },
      }),
    );
    expect(await sweepAt(webhooks.clock() + 2 * minuteMs)).toMatchObject({ sent: sent(), woken: 1 });
    await webhooks.attempt(message);
    expect(await sweepAt(webhooks.clock() + 5 * minuteMs)).toEqual(nothing);
    expect(await readListed()).toEqual([]);
  });
});
