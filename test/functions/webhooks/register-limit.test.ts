import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import { registerWebhook } from '../../../lib/webhooks/registration.ts';
import { dataOf, errorOf } from '../../api.ts';
import { createWebhookCallers, newWebhook, type WebhookCaller } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers();
let caller: WebhookCaller;

beforeEach(async () => {
  caller = await newWebhookCaller();
});

/** Registers `count` webhooks without HTTP requests, which is faster, and returns their ids. */
async function fill(count: number): Promise<string[]> {
  const register = () => registerWebhook(processContext(), caller.organization, { ...newWebhook }, undefined);
  return (await Promise.all(Array.from({ length: count }, register))).map(({ id }) => id);
}

const idsOf = async () => dataOf<Webhook[]>(await caller.list()).map(({ id }) => id);

describe('the 101st webhook', () => {
  it('is refused with 409 limit_reached', async () => {
    await fill(100);
    await caller.refuses(() => caller.register({ ...newWebhook, secret: 'a secret' }), 409, 'limit_reached');
    expect(await idsOf()).toHaveLength(100);
  });

  it('is taken when one has been deleted', async () => {
    const [first = ''] = await fill(100);
    expect((await caller.delete(first)).status).toBe(200);
    expect((await caller.register()).status).toBe(201);
    await caller.refuses(() => caller.register(), 409, 'limit_reached');
  });

  it('is refused five times of ten that come at once to ninety-five', async () => {
    await fill(95);
    const answers = await Promise.all(Array.from({ length: 10 }, () => caller.register()));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    const rejected = answers.filter(({ status }) => status !== 201);
    expect(rejected.map((answer) => [answer.status, errorOf(answer).code])).toEqual(
      Array(5).fill([409, 'limit_reached']),
    );
    expect(await idsOf()).toHaveLength(100);
  });

  it('does not keep another organization from its first', async () => {
    await fill(100);
    const other = await newWebhookCaller();
    expect((await other.register()).status).toBe(201);
  });
});

describe('a registration under an Idempotency-Key', () => {
  const headers = { 'Idempotency-Key': 'key' };

  it('is answered as before by the hundredth webhook, though there is no room any more', async () => {
    await fill(99);
    const first = await caller.register(newWebhook, { headers });
    const second = await caller.register(newWebhook, { headers });
    expect([second.status, second.body]).toEqual([201, first.body]);
  });
});
