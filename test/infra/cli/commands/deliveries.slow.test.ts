import { expect, it } from 'vitest';
import { findRunning } from '../../../../infra/local/running.ts';
import { timestamp, ulidFrom } from '../../../../lib/contract/ids.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { environment as names } from '../../../../lib/deployment/environment.ts';
import { openTable } from '../../../../lib/table/client.ts';
import { appendEvent } from '../../../../lib/table/deliveries/event-log.ts';
import { insertWebhook } from '../../../../lib/table/deliveries/webhooks.ts';
import { deliveryIdOf, eventIdOf } from '../../../../lib/webhooks/deliveries/derived-ids.ts';
import { run, startDeployment, until } from '../../../journeys/deployment.ts';
import { startReceiver } from '../../../journeys/receiver.ts';

const minuteMs = 60_000;
const organization = 'local' as Organization;
const service = await startDeployment();
const { environment } = await findRunning(service.dataFolder);
const table = openTable(environment[names.tableName] as string, environment[names.dynamodbEndpoint]);

const verify = (...args: string[]) =>
  run(['infra/cli/main.ts', 'deliveries', 'verify', ...args], { CREWBOARD_DATA: service.dataFolder });

/** Creates a webhook of an hour ago, and an event of 20 minutes ago without a message. */
async function loseEvent(url: string): Promise<{ deliveryId: string; data: object }> {
  const now = Date.now();
  const webhookId = `wh_${ulidFrom(now - 60 * minuteMs, Buffer.alloc(10))}`;
  const webhook = { id: webhookId, url, events: ['task.created' as const], active: true };
  await insertWebhook(
    { table },
    organization,
    { ...webhook, createdAt: timestamp(now - 60 * minuteMs) },
    undefined,
    undefined,
  );
  const changedAt = now - 20 * minuteMs;
  const item = `task_${ulidFrom(changedAt, Buffer.alloc(10))}`;
  const data = { task: { id: item, title: 'Lost', status: 'backlog' }, occurredAt: timestamp(changedAt) };
  const origin = { item, version: 1, event: 'task.created' as const };
  await appendEvent(
    { table, batchers: {} },
    {
      organization,
      id: eventIdOf(changedAt, origin),
      ...origin,
      data: JSON.stringify(data),
    },
  );
  return { deliveryId: deliveryIdOf(changedAt, { ...origin, webhookId }), data };
}

it('reports missing deliveries, sends them again, and then finds none', async () => {
  const receiver = await startReceiver();
  const { deliveryId, data } = await loseEvent(receiver.url);
  const since = new Date(Date.now() - 60 * minuteMs).toISOString();

  const dryRun = await verify('--since', since, '--dry-run');
  expect([dryRun.code, dryRun.stdout]).toEqual([
    1,
    'organization  events  deliveries  waiting  lost\nlocal         1       1           0        1\nNothing was sent.\n',
  ]);
  expect(receiver.received).toEqual([]);

  const sent = await verify('--since', since, '--org', 'local');
  expect([sent.code, sent.stdout.split('\n').at(-2)]).toEqual([0, '1 sent again.']);
  const [delivered] = await receiver.next(1);
  expect(delivered?.body).toMatchObject({ deliveryId, data });

  await until('the attempt is in the log', async () =>
    (await verify('--since', since)).stdout.endsWith('local         1       1           0        0\n'),
  );
  expect(receiver.received).toHaveLength(1);
});

it('rejects an invalid time and one in the future', async () => {
  for (const since of ['yesterday', '2999-01-01T00:00:00Z']) {
    const { code, stderr } = await verify('--since', since);
    expect([code, stderr]).toEqual([1, expect.stringContaining('It must be')]);
  }
});
