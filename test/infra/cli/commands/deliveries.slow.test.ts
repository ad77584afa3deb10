import { expect, it } from 'vitest';
import { timestamp, ulidFrom } from '../../../../lib/contract/ids.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import type { Table } from '../../../../lib/table/access/client.ts';
import { appendEvent } from '../../../../lib/table/events/event-log.ts';
import { insertWebhook } from '../../../../lib/table/webhooks/webhooks.ts';
import { deliveryIdOf, eventIdOf } from '../../../../lib/webhooks/attempts/derived-ids.ts';
import { until } from '../../../journeys/deployment.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import { errorOf } from '../aws.ts';
import { crewboardIn, startLocalService } from './local-service.ts';

const minuteMs = 60_000;
const organization = 'local' as Organization;
const { table, crewboard } = await startLocalService();
const verify = (...args: string[]) => crewboard('deliveries', 'verify', ...args);

const counted = (lost: number) =>
  `organization  events  deliveries  waiting  lost\nlocal         1       1           0        ${lost}\n`;

/** Creates a webhook of an hour ago, and an event of 20 minutes ago without a message. */
async function loseEvent(url: string, table: Table): Promise<{ deliveryId: string; data: object }> {
  const now = Date.now();
  const createdAt = now - 60 * minuteMs;
  const webhookId = `wh_${ulidFrom(createdAt, Buffer.alloc(10))}`;
  const webhook = { id: webhookId, url, events: ['task.created' as const], active: true };
  await insertWebhook({ table }, organization, { ...webhook, createdAt: timestamp(createdAt) }, undefined, undefined);
  const changedAt = now - 20 * minuteMs;
  const item = `task_${ulidFrom(changedAt, Buffer.alloc(10))}`;
  const data = { task: { id: item, title: 'Lost', status: 'backlog' }, occurredAt: timestamp(changedAt) };
  const origin = { item, version: 1, event: 'task.created' as const };
  const event = { organization, id: eventIdOf(changedAt, origin), ...origin, data: JSON.stringify(data) };
  await appendEvent({ table, batchers: {} }, event);
  return { deliveryId: deliveryIdOf(changedAt, { ...origin, webhookId }), data };
}

it('reports missing deliveries, sends them again, and then finds none', async () => {
  const receiver = await startReceiver();
  const { deliveryId, data } = await loseEvent(receiver.url, table);
  const since = new Date(Date.now() - 60 * minuteMs).toISOString();

  const dryRun = { code: 1, stdout: `${counted(1)}Nothing was sent.\n` };
  expect(await verify('--since', since, '--dry-run')).toMatchObject(dryRun);
  expect(receiver.received).toEqual([]);

  const sent = await verify('--since', since, '--org', 'local');
  expect([sent.code, sent.stdout.split('\n').at(-2)]).toEqual([0, '1 sent again.']);
  const [delivered] = await receiver.next(1);
  expect(delivered?.body).toMatchObject({ deliveryId, data });

  await until('the attempt is in the log', async () => (await verify('--since', since)).stdout === counted(0));
  expect(receiver.received).toHaveLength(1);
});

it('compares without a service, but sends nothing', async () => {
  const stopped = await startLocalService();
  await stopped.service.stop();
  const since = new Date(Date.now() - 60 * minuteMs).toISOString();
  await loseEvent('http://127.0.0.1:1/', stopped.table);
  const shell = { CREWBOARD_DATA: stopped.service.dataFolder, DYNAMODB_ENDPOINT: stopped.dynamodbEndpoint };
  const { code, stdout, stderr } = await crewboardIn(shell, 'deliveries', 'verify', '--since', since);
  expect([code, stdout]).toEqual([1, counted(1)]);
  expect(stderr).toMatch(
    /^No Crewboard is running on the data folder .* its queues and dead letters are in its memory/,
  );
});

it.each(['yesterday', '2999-01-01T00:00:00Z'])('rejects the time %s', async (since) => {
  expect(errorOf(await verify('--since', since))).toContain('It must be');
});
