import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { newForEachTest } from '../../caller.ts';
import { createWebhookCallers } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers();
const caller = newForEachTest(newWebhookCaller);
let id: string;
beforeEach(async () => {
  id = await caller.put();
});

describe.each(['delivery', 'redeliver'] as const)('404 not_found for %s, and nothing is changed,', (operation) => {
  const absent = (webhookId: string, deliveryId: string) =>
    caller.refuses(() => caller[operation](webhookId, deliveryId), 404, 'not_found');

  it('for a delivery that does not exist, or a malformed id', async () => {
    expect(await absent(id, `dlv_${processContext().ulid()}`)).toMatchObject({
      message: 'The organization has no such delivery; check the path.',
    });
    await absent(id, 'dlv_1');
    for (const character of ['0', '7']) await absent(id, `dlv_${character.repeat(26)}`);
  });

  it('for a delivery of another webhook, or a deleted one', async () => {
    const deliveryId = await caller.attempt(id);
    await absent(await caller.put(), deliveryId);
    await caller.delete(id);
    await absent(id, deliveryId);
  });

  it('for a webhook of another organization', async () => {
    const deliveryId = await caller.attempt(id);
    const other = await newWebhookCaller();
    await caller.refuses(() => other[operation](id, deliveryId), 404, 'not_found');
  });
});
