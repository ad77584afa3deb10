import { afterEach, describe, expect, it, vi } from 'vitest';
import { app } from '../../../lib/app.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { openDeliveryStore } from '../../../lib/table/deliveries.ts';
import { allTime, runJob } from './jobs.ts';
import { messageOf, openPipeline } from './pipeline.ts';

const { service, organization, register, receive } = await openPipeline();
const { id: webhookId } = await register();
const store = openDeliveryStore(service.table);
const minuteMs = 60_000;

afterEach(() => vi.restoreAllMocks());

/** Puts a delivery that has waited for so long for a worker. */
async function put(milliseconds: number): Promise<string> {
  const since = timestamp(app().clock() - milliseconds);
  // An id that ends in 0, for which one lane of the index is as good as another.
  const id = `dlv_${app().ulid().slice(0, -1)}0`;
  const event = { event: 'task.created', data: '{}', state: 'pending', attempt: 1 } as const;
  await store.put(
    { organization, webhookId, id, nextAttemptAt: since, ...event },
    timestamp(Date.parse(since) + minuteMs),
  );
  return id;
}

const woken = async () => (await receive()).map((body) => messageOf(body).deliveryId);

describe('sweep-overdue', () => {
  it('wakes what waits too long, once, and says how many in the log', async () => {
    const info = vi.spyOn(app().log, 'info').mockImplementation(() => {});
    const [overdue] = [await put(2 * minuteMs), await put(0)];
    await runJob('deliveries');
    expect(await woken()).toEqual([overdue]);
    await runJob('deliveries');
    expect(await woken()).toEqual([]);
    expect(info.mock.calls).toMatchObject([
      ['scheduled', { job: 'deliveries', woken: 1, unfinished: false }],
      ['scheduled', { job: 'deliveries', woken: 0, unfinished: false }],
    ]);
  });

  it('wakes all that waits when it is called for all time to come', async () => {
    const ids = [await put(0), await put(0)];
    await runJob('deliveries', allTime);
    expect(await woken()).toEqual(expect.arrayContaining(ids));
  });
});
