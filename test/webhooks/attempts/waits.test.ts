import { BatchGetCommand, type BatchGetCommandInput } from '@aws-sdk/lib-dynamodb';
import 'aws-sdk-client-mock-vitest/extend';
import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import type { Key } from '../../../lib/table/access/keys.ts';
import { addWaits, createWaits, waitsInSeconds } from '../../../lib/webhooks/attempts/waits.ts';
import { mockTable } from '../../table/fixtures/mock-table.ts';

const { table, dynamodb } = mockTable();

/** Webhooks whose ids start with `slow` are slow; those whose ids start with `deleted` have no item. */
beforeEach(() => {
  dynamodb.reset();
  dynamodb.on(BatchGetCommand).callsFake(async ({ RequestItems }: BatchGetCommandInput) => {
    const keys = RequestItems?.[table.name]?.Keys as Key[];
    const webhooks = keys.filter(({ pk, sk }) => pk.endsWith('#W') && !sk.startsWith('deleted'));
    return {
      Responses: { [table.name]: webhooks.map((key) => ({ ...key, url: 'u', slow: key.sk.startsWith('slow') })) },
    };
  });
});

const wait = (name: string, lateMs: number) => ({
  message: { webhookId: `wh_${name.padEnd(26, '0')}` } as DeliveryMessage,
  lateMs,
});

/** Returns the longest waits after adding waits in steps. */
async function longestOf(...steps: ReturnType<typeof wait>[][]) {
  const waits = createWaits();
  for (const step of steps) await addWaits({ table }, waits, step);
  return waitsInSeconds(waits);
}

describe('the longest wait', () => {
  it('is none where none is overdue', async () => {
    expect(await longestOf([])).toEqual({ DeliveriesLate: 0, SlowDeliveriesLate: 0 });
    expect(await longestOf([wait('quick', -5_000)])).toEqual({ DeliveriesLate: 0, SlowDeliveriesLate: 0 });
    expect(dynamodb).not.toHaveReceivedAnyCommand();
  });

  it('is that of slow receivers, and apart from them that of all others, of all steps', async () => {
    const step = [wait('quick', 61_000), wait('slow', 900_000), wait('other', 62_000), wait('slow2', 3_000_000)];
    const steps = [step, [wait('slow', 80_000), wait('quick', 300_000)], [wait('quick', 5_000)]];
    expect(await longestOf(...steps)).toEqual({ DeliveriesLate: 300, SlowDeliveriesLate: 3_000 });
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
    expect(dynamodb).toHaveReceivedCommandTimes(BatchGetCommand, 2);
  });
});
