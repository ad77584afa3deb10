import { expect, it } from 'vitest';
import { verifyWebhook } from '../../../lib/client/verify-webhook.ts';
import type { Recovery, RecoveryStarted } from '../../../lib/contract/webhooks/recoveries.ts';
import type { DeliveryRecord } from '../../../lib/contract/webhooks/webhooks.ts';
import { dataOf, errorOf, successOf } from '../../api.ts';
import { crewboard } from '../../infra/cli/api/crewboard.ts';
import { type Receiver, startReceiver } from '../../sender/receiver.ts';
import { type Deployment, startDeployment, until } from '../deployment.ts';
import { createTask, register } from '../requests.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const environment = { RETRY_LADDER: '1,1,1' };
const number = 200;

/** The longest time until the sweeper of the local service has found a recovery, and it is completed. */
const recoveredWithinMs = 200_000;

/** Returns all attempts of a webhook. */
async function historyOf({ api }: Deployment, id: string): Promise<DeliveryRecord[]> {
  const pages = await Promise.all(
    Array.from({ length: (number * 6) / 100 }, (_, at) =>
      api.listDeliveries({ params: { id }, query: `limit=100&offset=${at * 100}` }),
    ),
  );
  return pages.flatMap((page) => dataOf<DeliveryRecord[]>(page));
}

it('a receiver that was down gets all that it missed by a recovery, although the service is killed during it', async () => {
  const service = await startDeployment({ environment });
  let down = true;
  const receiver: Receiver = await startReceiver((response) => response.writeHead(down ? 503 : 204).end());
  const since = new Date().toISOString();
  const id = await register(service, { url: receiver.url, events: ['task.created'], secret });
  const ids = await Promise.all(Array.from({ length: number }, (_, at) => createTask(service, `Task ${at}`)));
  await until('all attempts fail', () => receiver.received.length === number * 4, 120_000);
  down = false;

  const params = { id };
  const body = { since, include: ['exhausted'] };
  const headers = { 'Idempotency-Key': 'after-the-outage' };
  // The rows of the last attempts are written after their responses.
  const count = async () =>
    dataOf<RecoveryStarted>(await service.api.recoverWebhook({ params, body: { ...body, dryRun: true } }));
  await until('all deliveries are exhausted', async () => (await count()).matched === number);
  expect(await count()).toMatchObject({ matched: number, matchedByKind: { exhausted: number } });
  const answer = await service.api.recoverWebhook({ params, body, headers });
  const { matched, recoveryId = '' } = successOf<RecoveryStarted>(answer);
  expect(matched).toBe(number);
  expect(errorOf(await service.api.recoverWebhook({ params, body }))?.code).toBe('recovery_in_progress');

  await until('some events arrive', () => receiver.received.length >= number * 4 + 30, 90_000);
  await service.stop('SIGKILL');
  const { dataFolder } = service;
  const beforeKill = receiver.received.length;
  expect(beforeKill).toBeLessThan(number * 5);
  const after = await startDeployment({ dataFolder, environment });
  const again = await after.api.recoverWebhook({ params, body, headers });
  expect([again.status, again.body]).toEqual([200, answer.body]);

  const progress = { id, recoveryId };
  const read = async () => dataOf<Recovery>(await after.api.getRecovery({ params: progress }));
  await until('the recovery is completed', async () => (await read()).status === 'completed', recoveredWithinMs);
  expect(await read()).toMatchObject({ matched, sent: number, delivered: number, failed: 0 });
  const recovered = receiver.received.slice(number * 4);
  expect(new Set(recovered.map(({ body: sent }) => sent.data.task.id))).toEqual(new Set(ids));
  // Only posts whose rows were not written before the kill are repeated.
  const attempts = (await historyOf(after, id)).filter(({ attempt }) => attempt === 5);
  expect(attempts).toHaveLength(number);
  expect(new Set(attempts.map(({ deliveryId }) => deliveryId)).size).toBe(number);
  expect(recovered.length - number).toBeLessThanOrEqual(10);
  const { raw, headers: signed } = recovered[0] as Receiver['received'][number];
  expect(await verifyWebhook({ body: raw, headers: signed, secret })).toMatchObject({ event: 'task.created' });

  // Everything is delivered now. The command says the same.
  const connection = { CREWBOARD_URL: after.url, CREWBOARD_TOKEN: after.token };
  const { code, stdout } = await crewboard(['webhooks', 'recover', id, '--since', since], connection);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^0 events are sent\. Of the range: \d+ delivered/)]);
});
