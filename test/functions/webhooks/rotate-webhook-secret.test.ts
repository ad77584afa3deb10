import { createHmac } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { encryptSecret } from '../../../lib/aws/secrets.ts';
import { verifyWebhook } from '../../../lib/client/verify-webhook.ts';
import { processContext } from '../../../lib/context/context.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import type { SecretRotated, Webhook } from '../../../lib/contract/webhooks/webhooks.ts';
import { environment } from '../../../lib/names/environment.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { failRequests } from '../../http/fail-requests.ts';
import { type Receiver, startReceiver } from '../../sender/receiver.ts';
import { createWebhookCallers } from './webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
const caller = newForEachTest(newWebhookCaller);
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});

const [first, second, third] = ['the first secret', 'the second secret', 'the third secret'] as const;
const put = (secret?: string) => caller.put({ url: receiver.url, secret });
const rotate = async (id: string, secret: string, overlapSeconds?: number) => {
  const answer = await caller.rotate(id, { secret, ...(overlapSeconds !== undefined && { overlapSeconds }) });
  expect(answer.status).toBe(200);
  return dataOf<SecretRotated>(answer);
};
const secretItem = (id: string) => getItem(service.table, keys.webhookSecret(caller.organization, ulidOf(id)));

/** Sends a test event, and returns the request that arrives. */
async function send(id: string) {
  expect((await caller.test(id)).status).toBe(200);
  const [request] = receiver.received.splice(0) as [Receiver['received'][number]];
  return request;
}

/** Returns which of the three secrets the signatures of a delivery have, in order. */
async function signersOf(id: string) {
  const { raw, headers } = await send(id);
  const signerOf = (signature: string | undefined) =>
    [first, second, third].find(
      (secret) => signature === `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`,
    );
  const accepted = [first, second, third].filter((secret) => {
    const library = new StandardWebhook(Buffer.from(secret).toString('base64'));
    try {
      return library.verify(raw.toString('utf8'), headers);
    } catch {
      return false;
    }
  });
  return {
    signature: signerOf(headers['x-service-signature']),
    previous: signerOf(headers['x-service-signature-previous']),
    standard: accepted,
    standardCount: headers['webhook-signature']?.split(' ').length,
  };
}

const inOverlap = (signature: string, previous: string) => ({
  ...{ signature, previous, standardCount: 2 },
  standard: [first, second, third].filter((secret) => [signature, previous].includes(secret)),
});
const alone = (signature: string) => ({ signature, previous: undefined, standard: [signature], standardCount: 1 });

describe('rotating a secret', () => {
  it('answers 200 with the webhook as it is read, and the end of the old secret, a day later by default', async () => {
    const id = await put(first);
    await caller.test(id);
    const before = Date.now();
    const { previousSecretEndsAt = '', ...webhook } = await rotate(id, second);
    expect(webhook).toEqual(dataOf<Webhook>(await caller.get(id)));
    expect(webhook.lastDeliveryAt).toBeDefined();
    const endsIn = Date.parse(previousSecretEndsAt) - 86_400_000;
    expect(endsIn).toBeGreaterThanOrEqual(before);
    expect(endsIn).toBeLessThanOrEqual(Date.now());
  });

  it('signs deliveries with both secrets during the overlap, each kind of signature', async () => {
    const id = await put(first);
    expect(await signersOf(id)).toEqual(alone(first));
    await rotate(id, second);
    expect(await signersOf(id)).toEqual(inOverlap(second, first));
  });

  it('lets a receiver with our helper verify with the old secret, the new one, or a list that has one of them', async () => {
    const id = await put(first);
    await rotate(id, second);
    const { raw: body, headers } = await send(id);
    for (const secret of [first, second, [first, second], [third, first], [third, second]])
      expect(await verifyWebhook({ body, headers, secret })).toMatchObject({ event: 'task.created' });
    await expect(verifyWebhook({ body, headers, secret: third })).rejects.toThrow(/does not match/);
  });

  it('ends the old secret at once without an overlap, and says so', async () => {
    const id = await put(first);
    const before = Date.now();
    const { previousSecretEndsAt = '' } = await rotate(id, second, 0);
    expect(Date.parse(previousSecretEndsAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(previousSecretEndsAt)).toBeLessThanOrEqual(Date.now());
    expect(await signersOf(id)).toEqual(alone(second));
    expect(Object.keys((await secretItem(id)) ?? {}).sort()).toEqual(['pk', 'sealed', 'sk']);
  });

  it('during an overlap ends the secret before the last at once', async () => {
    const id = await put(first);
    await rotate(id, second, 604_800);
    await rotate(id, third);
    expect(await signersOf(id)).toEqual(inOverlap(third, second));
  });

  it('without an overlap ends every earlier secret', async () => {
    const id = await put(first);
    await rotate(id, second);
    await rotate(id, third, 0);
    expect(await signersOf(id)).toEqual(alone(third));
  });

  it('gives a webhook without a secret its first one, which ends none', async () => {
    const id = await put();
    expect((await send(id)).headers).not.toHaveProperty('x-service-signature');
    const rotated = await rotate(id, first);
    expect(rotated).toEqual(dataOf<Webhook>(await caller.get(id)));
    expect(await signersOf(id)).toEqual(alone(first));
    await rotate(id, second);
    expect(await signersOf(id)).toEqual(inOverlap(second, first));
  });

  it('at the same moment as others gives a webhook two of the new secrets, also if it had none', async () => {
    for (const secret of [undefined, first]) {
      const id = await put(secret);
      await Promise.all([rotate(id, second), rotate(id, third)]);
      const { signature, previous } = await signersOf(id);
      expect([signature, previous].sort()).toEqual([second, third]);
    }
  });

  it('works for a secret that an earlier version stored', async () => {
    const id = await put();
    const owner = { organization: caller.organization, webhook: id };
    const sealed = await encryptSecret(processContext(), first, owner);
    const ulid = ulidOf(id);
    const webhook = await getItem(service.table, keys.webhook(caller.organization, ulid));
    for (const Item of [
      { ...webhook, signed: true },
      { ...keys.webhookSecret(caller.organization, ulid), sealed },
    ])
      await service.table.client.send(new PutCommand({ TableName: service.tableName, Item }));
    expect(await signersOf(id)).toEqual(alone(first));
    await rotate(id, second);
    expect(await signersOf(id)).toEqual(inOverlap(second, first));
  });

  it('leaves nothing behind after the webhook is deleted', async () => {
    const id = await put(first);
    await rotate(id, second);
    expect((await caller.delete(id)).status).toBe(200);
    expect(Object.values(await caller.dump()).filter((item) => JSON.stringify(item).includes(ulidOf(id)))).toEqual([]);
  });
});

describe('a rotation is refused, and nothing is changed,', () => {
  const refuses = (body: unknown, status: number, code: string, id?: string) =>
    caller.refuses(async () => caller.rotate(id ?? rotatable, body), status, code);
  let rotatable: string;
  beforeEach(async () => {
    rotatable = await put(first);
  });

  it.each([
    ['secret', 'required', {}],
    ['secret', 'invalid_value', { secret: '' }],
    ['secret', 'invalid_value', { secret: 's'.repeat(257) }],
    ['secret', 'invalid_type', { secret: 5 }],
    ['overlapSeconds', 'invalid_value', { secret: second, overlapSeconds: -1 }],
    ['overlapSeconds', 'invalid_value', { secret: second, overlapSeconds: 604_801 }],
    ['overlapSeconds', 'invalid_value', { secret: second, overlapSeconds: 1.5 }],
    ['overlapSeconds', 'invalid_type', { secret: second, overlapSeconds: '60' }],
    ['overlap', 'unknown_field', { secret: second, overlap: 60 }],
  ])('with 400 for %s: %s', async (path, code, body) => {
    const { details } = await refuses(body, 400, 'validation_failed');
    expect(details).toEqual([expect.objectContaining({ path, code })]);
    expect(await signersOf(rotatable)).toEqual(alone(first));
  });

  it('with 404 for a webhook that does not exist, was deleted, or is of another organization', async () => {
    const deleted = await put(first);
    await caller.delete(deleted);
    const other = await (await newWebhookCaller()).put();
    for (const id of ['wh_01K00000000000000000000000', 'register', deleted, other])
      await refuses({ secret: second }, 404, 'not_found', id);
  });

  it('with 500 if the secret cannot be encrypted or written, and the old secret stays', async () => {
    onTestFinished(() => {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
    });
    vi.stubEnv(environment.secretsKeyFile, '');
    await refuses({ secret: second }, 500, 'internal_error');
    vi.unstubAllEnvs();
    failRequests(processContext().table, 'previousSecret', new Error('The table is away.'));
    await refuses({ secret: second }, 500, 'internal_error');
    expect(await signersOf(rotatable)).toEqual(alone(first));
  });

  it('with 403 for a token that may not write webhooks', async () => {
    const reader = await newWebhookCaller(['webhooks:read', 'tasks:write', 'agents:write']);
    await reader.refuses(() => reader.rotate(rotatable), 403, 'insufficient_scope');
  });
});
