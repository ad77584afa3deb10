import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CrewboardError } from '../../../../client/client.ts';
import type { DeliveryState, EventOfWebhook } from '../../../../client/operations.ts';
import { messageOf } from '../../../components/format/message-of.ts';
import { useNotices } from '../../../components/notices.tsx';
import { useClient } from '../../../session.ts';

/** A delivery that can be sent again. */
export type Sendable = Pick<EventOfWebhook, 'deliveryId' | 'state' | 'event' | 'occurredAt'>;

/** Returns the label of the action on a delivery; `undefined` if its attempt is already due. */
export function actionOn(state: DeliveryState): string | undefined {
  if (state === 'pending') return undefined;
  return state === 'retrying' ? 'Retry now' : 'Send again';
}

/**
 * Returns a function that sends deliveries of a webhook again, and why that was not possible, by the ids of the deliveries. A
 * skipped event has no delivery that can be repeated, so one recovery sends the skipped events of the range.
 *
 * @param recovers gets the id of that recovery
 */
export function useSendAgain(id: string, recovers: (recoveryId: string) => void) {
  const client = useClient();
  const queries = useQueryClient();
  const { say } = useNotices();
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());

  const recover = async (skipped: readonly Sendable[]) => {
    const times = skipped.map(({ occurredAt }) => occurredAt).sort();
    const body = {
      since: times[0] as string,
      until: times.at(-1) as string,
      events: [...new Set(skipped.map(({ event }) => event))],
      include: ['skipped' as const],
    };
    const { data } = await client.recoverWebhook({ params: { id }, body });
    if (data.recoveryId !== undefined) recovers(data.recoveryId);
  };

  const { mutateAsync: send, isPending: isSending } = useMutation({
    mutationFn: async (deliveries: readonly Sendable[]) => {
      const skipped = deliveries.filter(({ state }) => state === 'skipped');
      const others = deliveries.filter(({ state }) => state !== 'skipped');
      const requests = [
        ...others.map((one) => ({
          of: [one],
          sent: client.redeliverDelivery({ params: { id, deliveryId: one.deliveryId } }),
        })),
        ...(skipped.length > 0 ? [{ of: skipped, sent: recover(skipped) }] : []),
      ];
      const results = await Promise.allSettled(requests.map(({ sent }) => sent));
      return new Map(
        results.flatMap((result, at) =>
          result.status === 'fulfilled'
            ? []
            : (requests[at]?.of ?? []).map(({ deliveryId }) => [deliveryId, explanationOf(result.reason)] as const),
        ),
      );
    },
    onSuccess: (failed, deliveries) => {
      setProblems(failed);
      const sent = deliveries.length - failed.size;
      if (sent > 0) say(`${sent === 1 ? 'The delivery is' : `${sent} deliveries are`} sent again.`);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks', id] }),
  });
  return { send, isSending, problems };
}

/** Returns why a delivery cannot be sent again, and what to do. */
function explanationOf(error: unknown): string {
  if (error instanceof CrewboardError && error.code === 'webhook_paused')
    return 'The webhook is paused. Resume it; then send the delivery again.';
  return messageOf(error);
}
