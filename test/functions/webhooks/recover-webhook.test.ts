import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import type { Recovery, RecoveryStarted } from '../../../lib/contract/webhooks/recoveries.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { completeRecovery, readRecovery, type StoredRecovery } from '../../../lib/table/recoveries/recoveries.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { dataOf, paginationOf, statusAndCodeOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { unknownEvent } from '../../values/unknown-event.ts';
import { createChange } from '../../webhooks/test-webhooks.ts';
import { createWebhookCallers } from './webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers();
const caller = newForEachTest(newWebhookCaller);
const since = '2026-01-01T00:00:00Z';
const body = { since: timestamp(Date.now() - 3_600_000), include: ['never_sent'] };
let id: string;

// The events of two tasks are older than the webhook.
beforeEach(async () => {
  const context = processContext();
  for (const minutes of [3, 2]) {
    const at = context.clock() - minutes * 60_000;
    await publishEvents(context, createChange(caller.organization, 'task.created', at, `tk_${context.ulid()}`));
  }
  id = await caller.put();
});

describe('a recovery', () => {
  it('answers 200 with the number of events and its id, and can be read', async () => {
    const answer = await caller.recover(id, body);
    const { matched, recoveryId } = dataOf<RecoveryStarted>(answer);
    expect([answer.status, matched, recoveryId]).toEqual([200, 2, expect.stringMatching(/^rc_/)]);
    const { status, body: read } = await caller.recovery(id, recoveryId as string);
    expect([status, read]).toEqual([
      200,
      {
        success: true,
        data: {
          id: recoveryId,
          webhookId: id,
          state: 'running',
          status: 'running',
          since: body.since,
          until: expect.any(String),
          include: ['never_sent'],
          ratePerSecond: 10,
          ...{ matched: 2, sent: 0, delivered: 0, failed: 0 },
          createdAt: expect.any(String),
        },
      },
    ]);
  });

  it('is made once for one Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const first = await caller.recover(id, body, { headers });
    const again = await caller.recover(id, body, { headers });
    expect([again.status, again.body]).toEqual([200, first.body]);
  });

  it('that is a dry run only counts, also while another one runs, and stores nothing', async () => {
    const dryRun = { ...body, dryRun: true };
    const before = await caller.dump();
    const counted = {
      matched: 2,
      matchedByKind: { exhausted: 0, skipped: 0, retrying: 0, never_sent: 2 },
      leftOut: { delivered: 0, inProgress: 0, notIncluded: 0, notSubscribed: 0, filtered: 0 },
    };
    expect(dataOf(await caller.recover(id, dryRun))).toEqual(counted);
    expect(await caller.dump()).toEqual(before);
    await caller.recover(id, body);
    expect(dataOf(await caller.recover(id, dryRun))).toEqual(counted);
    const headers = { 'Idempotency-Key': 'count' };
    await caller.recover(id, dryRun, { headers });
    expect((await caller.recover(id, dryRun, { headers })).headers['Idempotency-Replayed']).toBe('true');
  });

  it('without `until` ends with the request, and an `until` in the future counts as now', async () => {
    const until = '9999-01-01T00:00:00Z';
    const { recoveryId } = dataOf<RecoveryStarted>(await caller.recover(id, { ...body, until }));
    const { until: applied, createdAt } = dataOf<Recovery>(await caller.recovery(id, recoveryId as string));
    expect(applied <= createdAt).toBe(true);
  });
});

describe('the list of recoveries', () => {
  it('has them newest first, in pages with their exact number', async () => {
    const recoveries: string[] = [];
    for (let nth = 0; nth < 3; nth++) {
      const { recoveryId = '' } = dataOf<RecoveryStarted>(await caller.recover(id, body));
      recoveries.unshift(recoveryId);
      await endRecovery(recoveryId);
    }
    const pageOf = async (query: string) => {
      const answer = await caller.recoveries(id, query);
      return { ids: dataOf<Recovery[]>(answer).map((one) => one.id), pagination: paginationOf(answer) };
    };
    expect(await pageOf('')).toEqual({ ids: recoveries, pagination: { limit: 20, offset: 0, total: 3 } });
    expect(await pageOf('limit=1&offset=1')).toEqual({
      ids: [recoveries[1]],
      pagination: { limit: 1, offset: 1, total: 3 },
    });
  });

  it('of a webhook of another organization is 404', async () => {
    const other = await newWebhookCaller();
    expect(statusAndCodeOf(await other.recoveries(id))).toEqual([404, 'not_found']);
  });

  /** Ends a recovery as its last sweep does. */
  async function endRecovery(recoveryId: string): Promise<void> {
    const recovery = await readRecovery(service, caller.organization, id, recoveryId);
    const { sent, delivered, failed, position, confirmed, nextSlotAt, sentAgainAt } = recovery as StoredRecovery;
    const ended = { sent, delivered, failed, position, confirmed, nextSlotAt, sentAgainAt };
    await completeRecovery(service, recovery as StoredRecovery, ended, new Date().toISOString());
  }
});

describe('a cancellation', () => {
  it('answers 200 with the recovery, which is cancelled', async () => {
    const { recoveryId = '' } = dataOf<RecoveryStarted>(await caller.recover(id, body));
    const answer = await caller.cancel(id, recoveryId);
    const cancelled = { id: recoveryId, state: 'cancelled', status: 'cancelled' };
    expect([answer.status, dataOf(answer)]).toMatchObject([200, cancelled]);
    expect(dataOf(await caller.recovery(id, recoveryId))).toEqual(dataOf(answer));
  });

  it('of a recovery that does not exist, or is of another organization, is 404 and changes nothing', async () => {
    const { recoveryId = '' } = dataOf<RecoveryStarted>(await caller.recover(id, body));
    const other = await newWebhookCaller();
    await caller.refuses(() => other.cancel(id, recoveryId), 404, 'not_found');
    await caller.refuses(() => caller.cancel(id, `rc_${ulidOf(id)}`), 404, 'not_found');
  });
});

describe('nothing is changed by a request that leads to', () => {
  it('409 recovery_in_progress while a recovery of the webhook runs', async () => {
    await caller.recover(id, body);
    await caller.refuses(() => caller.recover(id, body), 409, 'recovery_in_progress');
  });

  it('409 webhook_paused for a paused webhook', async () => {
    await service.table.client.send(
      new UpdateCommand({
        TableName: service.table.name,
        Key: keys.webhook(caller.organization, ulidOf(id)),
        UpdateExpression: 'SET pauses = :pauses',
        ExpressionAttributeValues: { ':pauses': [{ from: since }] },
      }),
    );
    expect(await caller.refuses(() => caller.recover(id, body), 409, 'webhook_paused')).toMatchObject({
      message: 'The webhook is paused; resume it first, with active: true.',
    });
  });

  it.each([
    ['no since', { since: undefined }, 'since'],
    ['a time without an offset', { since: '2026-01-01T00:00:00' }, 'since'],
    ['an end before the start', { since, until: '2025-12-31T00:00:00Z' }, 'since'],
    ['no kind', { include: [] }, 'include'],
    ['an unknown kind', { include: ['lost'] }, 'include.0'],
    ['a kind twice', { include: ['skipped', 'skipped'] }, 'include'],
    ['an unknown event', { events: [unknownEvent] }, 'events.0'],
    ['no event', { events: [] }, 'events'],
    ['a dry run that is no boolean', { dryRun: 'yes' }, 'dryRun'],
    ['a rate of 0', { ratePerSecond: 0 }, 'ratePerSecond'],
    ['a rate above 100', { ratePerSecond: 101 }, 'ratePerSecond'],
    ['an unknown field', { rate: 5 }, 'rate'],
  ])('400 validation_failed for %s', async (_, fields, path) => {
    const error = await caller.refuses(() => caller.recover(id, { ...body, ...fields }), 400, 'validation_failed');
    expect(error).toMatchObject({ details: [{ path }] });
  });

  it('404 not_found for a webhook that does not exist, is deleted, or is of another organization', async () => {
    const other = await newWebhookCaller();
    await caller.refuses(() => other.recover(id, body), 404, 'not_found');
    await caller.refuses(() => caller.recover('wh_1', body), 404, 'not_found');
    await caller.delete(id);
    await caller.refuses(() => caller.recover(id, body), 404, 'not_found');
  });

  it('403 insufficient_scope for a token without webhooks:write', async () => {
    const reader = await newWebhookCaller(['webhooks:read']);
    await reader.refuses(() => reader.recover(id, body), 403, 'insufficient_scope');
  });
});

describe('reading a recovery leads to', () => {
  it('404 not_found for one that does not exist, or is of another webhook', async () => {
    const { recoveryId } = dataOf<RecoveryStarted>(await caller.recover(id, body));
    await caller.refuses(() => caller.recovery(id, `rc_${ulidOf(id)}`), 404, 'not_found');
    expect(await caller.refuses(() => caller.recovery(id, 'rc_1'), 404, 'not_found')).toMatchObject({
      message: 'The organization has no such recovery; check the path.',
    });
    const other = await caller.put();
    await caller.refuses(() => caller.recovery(other, recoveryId as string), 404, 'not_found');
    await caller.delete(id);
    await caller.refuses(() => caller.recovery(id, recoveryId as string), 404, 'not_found');
  });

  it('403 insufficient_scope for a token without webhooks:read', async () => {
    const writer = await newWebhookCaller(['webhooks:write']);
    await writer.refuses(() => writer.recovery(id, `rc_${ulidOf(id)}`), 403, 'insufficient_scope');
  });
});
