import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import type { Target } from '../../lib/table/webhooks.ts';
import { openWaits } from '../../lib/webhooks/waits.ts';
import { failed, notingSender, type Office, opening, openOffices } from './office.ts';

const secondMs = 1_000;
const target = vi.fn(async (_: unknown, id: string): Promise<Target | undefined> => {
  if (id.startsWith('deleted')) return undefined;
  return { url: 'https://example.com', slow: id.startsWith('slow'), slowLeases: {} };
});
beforeEach(() => void target.mockClear());

const wait = (webhookId: string, lateMs: number) => ({ message: { webhookId } as DeliveryMessage, lateMs });

/** The longest waits among some, which are noted in steps. */
async function longestOf(...steps: ReturnType<typeof wait>[][]) {
  const waits = openWaits(target);
  for (const step of steps) await waits.note(step);
  return waits.longest();
}

describe('the longest wait', () => {
  it('is none where none is overdue', async () => {
    expect(await longestOf([])).toEqual({ DeliveriesLate: 0, SlowDeliveriesLate: 0 });
    expect(await longestOf([wait('quick', -5_000)])).toEqual({ DeliveriesLate: 0, SlowDeliveriesLate: 0 });
    expect(target).not.toHaveBeenCalled();
  });

  it('is that of slow receivers, and apart from them that of all others', async () => {
    const step = [wait('quick', 61_000), wait('slow', 900_000), wait('other', 62_000), wait('slow2', 3_000_000)];
    expect(await longestOf(step)).toEqual({ DeliveriesLate: 62, SlowDeliveriesLate: 3_000 });
  });

  it('is the longest of all steps', async () => {
    const steps = [[wait('quick', 90_000)], [wait('slow', 80_000), wait('quick', 300_000)], [wait('quick', 5_000)]];
    expect(await longestOf(...steps)).toMatchObject({ DeliveriesLate: 300 });
  });

  it('is not that of a webhook that was deleted', async () => {
    expect(await longestOf([wait('deleted', 900_000), wait('quick', 1_000)])).toMatchObject({ DeliveriesLate: 1 });
  });

  it('needs one read of a webhook, however many of its deliveries are late', async () => {
    const late = Array.from({ length: 10_000 }, (_, nth) => wait('slow', 900_000 + nth));
    expect(await longestOf(late, late, [wait('quick', 60_000)])).toEqual({
      DeliveriesLate: 60,
      SlowDeliveriesLate: 910,
    });
    expect(target).toHaveBeenCalledTimes(2);
  });
});

describe('a sweep measures', () => {
  let office: Office;
  // The ladder's first step is five minutes.
  const due = opening + 300 * secondMs;
  beforeEach(async () => {
    const newOffice = await openOffices();
    let message: DeliveryMessage;
    // A sampled event is measured too.
    do {
      office = newOffice();
      message = await office.message();
    } while (message.eventId?.endsWith('0'));
    await office.deliveries.attempt(message, notingSender(failed).send);
  });
  const sweep = async () => (await office.sweep({ until: office.clock() })).waits;

  it('nothing where nothing is overdue', async () => {
    office.clock.now = due + 59 * secondMs;
    expect(await sweep()).toEqual({ DeliveriesLate: 0, SlowDeliveriesLate: 0 });
  });

  it('the time since a retry was due, growing from sweep to sweep though it is listed anew each time', async () => {
    office.clock.now = due + 60 * secondMs;
    expect(await sweep()).toMatchObject({ DeliveriesLate: 60 });
    office.clock.now = due + 360 * secondMs;
    expect(await sweep()).toMatchObject({ DeliveriesLate: 360 });
    office.clock.now = due + 660 * secondMs;
    expect(await sweep()).toMatchObject({ DeliveriesLate: 660 });
  });
});
