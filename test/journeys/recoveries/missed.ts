import { expect } from 'vitest';
import type { Event } from '../../../lib/contract/webhooks/event-log.ts';
import type { EventName } from '../../../lib/contract/webhooks/events.ts';
import type { Recovery } from '../../../lib/contract/webhooks/recoveries.ts';
import { type Api, dataOf } from '../../api.ts';
import { until } from '../deployment.ts';
import { createTask } from '../requests.ts';
import type { UnreliableReceiver } from '../unreliable-receiver.ts';

type ToApi = { api: Api };

/** Creates tasks whose first attempts fail, one after the other, so that their events have this order. */
export async function miss(service: ToApi, receiver: UnreliableReceiver, titles: readonly string[]): Promise<void> {
  const before = receiver.received.length;
  receiver.state.isDown = true;
  for (const title of titles) await createTask(service, title);
  await receiver.next(before + titles.length);
}

/** Waits until the log has this number of events of a name about a webhook. */
export function announced({ api }: ToApi, id: string, event: EventName, count = 1): Promise<unknown> {
  return until(`the log has ${event} ${count} times`, async () => {
    const events = dataOf<Event[]>(await api.listEvents({ query: `event=${event}&limit=100` }));
    return events.filter(({ data }) => 'webhook' in data && data.webhook.id === id).length >= count;
  });
}

/** Returns the recoveries of a webhook, newest first. */
export async function recoveriesOf({ api }: ToApi, id: string): Promise<Recovery[]> {
  return dataOf<Recovery[]>(await api.listRecoveries({ params: { id } }));
}

/** Returns a recovery once it is completed. */
export function completedRecovery(
  service: ToApi,
  id: string,
  recoveryId: string,
  withinMs?: number,
): Promise<Recovery> {
  const look = async () => {
    const recovery = dataOf<Recovery>(await service.api.getRecovery({ params: { id, recoveryId } }));
    return recovery.state === 'completed' && recovery;
  };
  return until(`${recoveryId} is completed`, look, withinMs) as Promise<Recovery>;
}

/** Returns the texts in alphabetical order; fails if one occurs twice. */
export function distinct(texts: readonly string[]): string[] {
  expect(new Set(texts).size).toBe(texts.length);
  return texts.toSorted();
}
