import { createHmac } from 'node:crypto';
import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { mockClient } from 'aws-sdk-client-mock';
import 'aws-sdk-client-mock-vitest/extend';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import { environment } from '../../../lib/names/environment.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import type { Post } from '../../../lib/sender/sender.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import { readTarget } from '../../../lib/table/webhooks/webhooks.ts';
import { rotateWebhookSecret } from '../../../lib/webhooks/secret-rotation.ts';
import { getWebhook } from '../../../lib/webhooks/webhooks.ts';
import { failRequests } from '../../http/fail-requests.ts';
import { failed, notingSender, prepareTestWebhooks, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});
afterEach(() => vi.restoreAllMocks());

const [before, after] = ['the secret before', 'the secret after'] as const;
const rotate = (
  { webhookId: id }: Pick<DeliveryMessage, 'webhookId'>,
  overlapSeconds: number,
  secret: string = after,
) => rotateWebhookSecret(webhooks, webhooks.organization, { id, secret, overlapSeconds }, undefined);

/** Returns the secrets of the signatures of a post, the current one first. */
const signersOf = ({ headers, body }: Post) =>
  [headers['X-Service-Signature'], headers['X-Service-Signature-Previous']].map((signature) =>
    [before, after].find((secret) => signature === `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`),
  );

/** Makes the attempt of a message, and returns the secrets that it is signed with. */
async function signersOfAttempt(message: DeliveryMessage, outcome = {}) {
  const { posts, send } = notingSender(outcome);
  await webhooks.deliver(message, send);
  return signersOf(posts[0] as Post);
}

describe('each attempt of a delivery', () => {
  it('is signed with the secrets that hold at its time: before, during and after the overlap', async () => {
    const first = await webhooks.message({ secret: before });
    const minutes = 60_000;
    const signers: (typeof before | typeof after | undefined)[][] = [];
    for (let next: DeliveryMessage | undefined = first; next; ) {
      webhooks.clock.now = Math.max(webhooks.clock.now, Date.parse(next.dueAt));
      const sent = webhooks.queue.sent.length;
      signers.push(await signersOfAttempt(next, failed));
      // The retries are 5 minutes, 35 minutes and 155 minutes later.
      if (signers.length === 1) await rotate(first, (20 * minutes) / 1000);
      next = webhooks.queue.sent[sent]?.message;
    }
    expect(signers).toEqual([
      [before, undefined],
      [after, before],
      [after, undefined],
      [after, undefined],
    ]);
  });

  it('is signed with the old secret until the last millisecond of the overlap', async () => {
    const message = await webhooks.message({ secret: before });
    const { previousSecretEndsAt = '' } = await rotate(message, 60);
    webhooks.clock.now = Date.parse(previousSecretEndsAt) - 1;
    expect(await signersOfAttempt(await webhooks.nextMessage())).toEqual([after, before]);
    webhooks.clock.now += 1;
    expect(await signersOfAttempt(await webhooks.nextMessage())).toEqual([after, undefined]);
  });

  it('that has begun before a rotation ends as it began, signed with the old secret', async () => {
    const message = await webhooks.message({ secret: before });
    const { posts, letGo } = await webhooks.beginAttempt(message);
    await rotate(message, 0);
    await letGo();
    expect(posts.map(signersOf)).toEqual([[before, undefined]]);
  });

  it('in a container that has sent deliveries before the rotation is signed with the new secret at once', async () => {
    await webhooks.register({ secret: before });
    const container = webhooks.createContainer();
    const { posts, send } = notingSender();
    const first = await webhooks.nextMessage();
    await webhooks.deliver(first, send, container);
    await rotate(first, 0);
    await webhooks.deliver(await webhooks.nextMessage(), send, container);
    expect(posts.map(signersOf)).toEqual([
      [before, undefined],
      [after, undefined],
    ]);
  });

  it('is not made if the old secret cannot be decrypted during the overlap, and is made after it', async () => {
    const message = await webhooks.message({ secret: before });
    const { [environment.secretsKeyFile]: key } = webhooks.variables;
    webhooks.variables[environment.secretsKeyFile] = `${key}.new`;
    await rotate(message, 60);
    const { posts, send } = notingSender();
    await expect(webhooks.deliver(message, send)).rejects.toThrow();
    expect(posts).toEqual([]);
    webhooks.clock.now += 180_000;
    await webhooks.deliver(message, send);
    expect(posts.map(signersOf)).toEqual([[after, undefined]]);
  });
});

describe('the first secret of a webhook', () => {
  const target = ({ webhookId }: DeliveryMessage) => readTarget(webhooks, webhooks.organization, webhookId);

  it('signs deliveries even if the mark of the webhook cannot be written, which the next rotation writes', async () => {
    const message = await webhooks.message();
    failRequests(webhooks.table, '#signed', new Error('The table is away.'));
    await rotate(message, 60, before);
    vi.restoreAllMocks();
    const items = async () => Object.values(await webhooks.dump()) as { signed?: true }[];
    expect((await items()).filter(({ signed }) => signed)).toEqual([]);
    expect(await signersOfAttempt(await webhooks.nextMessage())).toEqual([before, undefined]);
    await rotate(message, 60);
    expect((await items()).filter(({ signed }) => signed)).toHaveLength(1);
    expect(await signersOfAttempt(await webhooks.nextMessage())).toEqual([after, before]);
  });

  it('and its time are in reads, and those of an earlier version have no time until the next one', async () => {
    const { organization, table } = webhooks;
    const { id } = await webhooks.register({ secret: 'first' });
    const read = async () => (await getWebhook(webhooks, organization, id)).data;
    expect(await read()).toMatchObject({ signed: true, secretChangedAt: timestamp(webhooks.clock()) });
    await transact(table, [
      { Update: { Key: keys.webhook(organization, ulidOf(id)), UpdateExpression: 'REMOVE secretChangedAt' } },
    ]);
    expect(await read()).toMatchObject({ signed: true });
    expect(await read()).not.toHaveProperty('secretChangedAt');
    webhooks.clock.now += 60_000;
    const rotated = await rotate({ webhookId: id }, 60);
    expect(rotated).toMatchObject({ signed: true, secretChangedAt: timestamp(webhooks.clock()) });
    expect(await read()).toMatchObject({ signed: true, secretChangedAt: timestamp(webhooks.clock()) });
  });

  it('of a webhook without one makes it signed, with its time', async () => {
    const { id } = await webhooks.register();
    const read = async () => (await getWebhook(webhooks, webhooks.organization, id)).data;
    expect(await read()).toMatchObject({ signed: false });
    expect(await read()).not.toHaveProperty('secretChangedAt');
    webhooks.clock.now += 60_000;
    await rotate({ webhookId: id }, 0);
    expect(await read()).toMatchObject({ signed: true, secretChangedAt: timestamp(webhooks.clock()) });
  });

  it('is written before the mark of the webhook, so that no read takes the webhook for deleted', async () => {
    const message = await webhooks.message();
    const found: (object | undefined)[] = [];
    const send = webhooks.table.client.send.bind(webhooks.table.client) as (command: object) => Promise<unknown>;
    vi.spyOn(webhooks.table.client, 'send').mockImplementation((async (command: { input: object }) => {
      if (JSON.stringify(command.input).includes('#signed')) {
        vi.restoreAllMocks();
        found.push(await target(message));
      }
      return send(command);
    }) as never);
    await rotate(message, 60, before);
    expect(found).toEqual([expect.objectContaining({ encryptedSecret: expect.any(String) })]);
    expect(await target(message)).toMatchObject({ encryptedSecret: expect.any(String) });
  });
});

it('KMS encrypts once for a rotation, and decrypts each of both secrets once in five minutes, the old one until it ends', async () => {
  const client = new KMSClient({});
  const kms = mockClient(client);
  kms.on(EncryptCommand).callsFake(async ({ Plaintext }) => ({ CiphertextBlob: Plaintext }));
  kms.on(DecryptCommand).callsFake(async ({ CiphertextBlob }) => ({ Plaintext: CiphertextBlob }));
  webhooks.variables[environment.secretsKeyId] = 'the key';
  webhooks.clients.kms = client;
  const message = await webhooks.message({ secret: before });
  const { posts, send } = notingSender();
  const decrypted = async () => {
    kms.resetHistory();
    await webhooks.deliver(await webhooks.nextMessage(), send);
    return kms.commandCalls(DecryptCommand).length;
  };
  expect(await decrypted()).toBe(1);
  kms.resetHistory();
  await rotate(message, 360);
  expect(kms).toHaveReceivedCommandTimes(EncryptCommand, 1);
  expect(kms).toHaveReceivedCommandTimes(DecryptCommand, 0);
  // The old secret is cached.
  expect([await decrypted(), await decrypted()]).toEqual([1, 0]);
  webhooks.clock.now += 300_000;
  expect([await decrypted(), await decrypted()]).toEqual([2, 0]);
  webhooks.clock.now += 300_000;
  expect([await decrypted(), await decrypted()]).toEqual([1, 0]);
  expect(posts.map(signersOf).at(-1)).toEqual([after, undefined]);
});
