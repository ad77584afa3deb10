import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import { registerWebhook } from '../../../lib/webhooks/registration.ts';
import { dataOf, errorOf } from '../../api.ts';
import { newWebhook, openRegistries, type Registry } from './registry.ts';

const { newRegistry } = await openRegistries();
let registry: Registry;

beforeEach(async () => {
  registry = await newRegistry();
});

/** Registers so many webhooks, past the edge for they are many, and returns their ids. */
async function fill(count: number): Promise<string[]> {
  const register = () => registerWebhook(processContext(), registry.organization, { ...newWebhook }, undefined);
  return (await Promise.all(Array.from({ length: count }, register))).map(({ id }) => id);
}

const idsOf = async () => dataOf<Webhook[]>(await registry.list()).map(({ id }) => id);

describe('the 101st webhook', () => {
  it('is refused with 409 limit_reached', async () => {
    await fill(100);
    await registry.refuses(() => registry.register({ ...newWebhook, secret: 'a secret' }), 409, 'limit_reached');
    expect(await idsOf()).toHaveLength(100);
  });

  it('is taken when one has been deleted', async () => {
    const [first = ''] = await fill(100);
    expect((await registry.delete(first)).status).toBe(200);
    expect((await registry.register()).status).toBe(201);
    await registry.refuses(() => registry.register(), 409, 'limit_reached');
  });

  it('is refused five times of ten that come at once to ninety-five', async () => {
    await fill(95);
    const answers = await Promise.all(Array.from({ length: 10 }, () => registry.register()));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    const refusals = answers.filter(({ status }) => status !== 201);
    expect(refusals.map((answer) => [answer.status, errorOf(answer).code])).toEqual(
      Array(5).fill([409, 'limit_reached']),
    );
    expect(await idsOf()).toHaveLength(100);
  });

  it('does not keep another organization from its first', async () => {
    await fill(100);
    const other = await newRegistry();
    expect((await other.register()).status).toBe(201);
  });
});

describe('a registration under an Idempotency-Key', () => {
  const headers = { 'Idempotency-Key': 'key' };

  it('is answered as before by the hundredth webhook, though there is no room any more', async () => {
    await fill(99);
    const first = await registry.register(newWebhook, { headers });
    const second = await registry.register(newWebhook, { headers });
    expect([second.status, second.body]).toEqual([201, first.body]);
  });
});
