import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Webhook } from '../../../lib/contract/webhooks/webhooks.ts';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { failRequests } from '../../http/fail-requests.ts';
import { dumpOf } from '../../table/fixtures/table-dump.ts';
import { expectKept, secret } from '../../webhooks/secret-spellings.ts';
import { failed } from '../../webhooks/test-webhooks.ts';
import { createWebhookCallers, newWebhook } from './webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers();

const caller = newForEachTest(newWebhookCaller);
let lines: unknown[] = [];
beforeEach(async () => {
  lines = [];
  for (const level of ['info', 'warn', 'error'] as const)
    vi.spyOn(processContext().log, level).mockImplementation((...said: unknown[]) => {
      lines.push([level, ...said]);
    });
});

afterEach(() => vi.restoreAllMocks());

const textOf = (value: unknown) => inspect(value, { depth: 20, maxStringLength: null, maxArrayLength: null });
const tooLong = `${secret}${'x'.repeat(256)}`;

describe('the secret of a webhook', () => {
  it('is in no answer', async () => {
    const registered = await caller.register({ ...newWebhook, secret });
    const { id } = dataOf<Webhook>(registered);
    await caller.attempt(id, failed);
    const answers = [registered, await caller.rotate(id, { secret }), await caller.rotate(id, { secret: tooLong })];
    for (const send of [caller.list, caller.get, caller.deliveries, caller.delete]) answers.push(await send(id));
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 400, 200, 200, 200, 200]);
    expectKept(JSON.stringify(answers));
  });

  it('can be read nowhere in the table, also not in the record of an Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'key' };
    const answer = await caller.register({ ...newWebhook, secret }, { headers });
    const { id } = dataOf<Webhook>(answer);
    expect((await caller.rotate(id, { secret }, { headers })).status).toBe(200);
    await caller.attempt(id);
    // The items of all organizations: every key has a `#`.
    const table = textOf(await dumpOf(service.table, '#' as Organization));
    expect(table).toContain(id.slice(3));
    expect(table).toContain('sealed');
    expect(table).toContain('previousSecret');
    expectKept(table);
  });

  it('is in no log line of a registration, refused ones and broken ones too', async () => {
    const bodies = [
      { ...newWebhook, secret },
      { ...newWebhook, secret, url: 'http://example.com/' },
      { ...newWebhook, secret, url: 'https://10.0.0.1/' },
      { ...newWebhook, secret: tooLong },
      { ...newWebhook, secret: { secret } },
      { ...newWebhook, [secret]: secret },
      `{"secret":"${secret}"`,
    ];
    for (const body of bodies) await caller.register(body);
    expect(lines).toHaveLength(bodies.length);
    expectKept(textOf(lines));
  });

  it('is in no log line when the table fails', async () => {
    failRequests(processContext().table, '#W"', new Error('The table is away.'));
    expect((await caller.register({ ...newWebhook, secret })).status).toBe(500);
    expect(lines).toHaveLength(1);
    expectKept(textOf(lines));
  });

  it('is not echoed by an error response', async () => {
    for (const wrong of [tooLong, { secret }, [secret]]) {
      const answer = await caller.register({ ...newWebhook, secret: wrong });
      expect(answer.status).toBe(400);
      expectKept(JSON.stringify(answer));
    }
  });
});

it('the credentials of a URL are not in the error response and not logged', async () => {
  const answer = await caller.register({ ...newWebhook, url: 'https://a-user:a-word@example.com/' });
  expect(answer.status).toBe(422);
  expect(textOf([answer, lines])).not.toMatch(/a-user|a-word/);
});
