import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CrewboardError } from '../../../../client/client.ts';
import { messageOf } from '../../../components/failure.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { useClient } from '../../../session.ts';

type Props = { id: string; deliveryId: string; className?: string };

/** A button that sends a delivery of a webhook again, and explains why that is not possible now. */
export function SendAgain({ id, deliveryId, className }: Props) {
  const client = useClient();
  const queries = useQueryClient();
  const { say, fail } = useNotices();
  const { mutate, isPending } = useMutation({
    mutationFn: () => client.redeliverDelivery({ params: { id, deliveryId } }),
    onSuccess: () => say('The delivery is sent again within about two minutes.'),
    onError: (error) => fail(new Error(explanationOf(error))),
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks', id] }),
  });
  return (
    <button type="button" className={className} disabled={isPending} onClick={() => mutate()}>
      Send again
    </button>
  );
}

/** Returns why a delivery cannot be sent again, and what to do. */
function explanationOf(error: unknown): string {
  if (!(error instanceof CrewboardError)) return messageOf(error);
  if (error.code === 'delivery_in_progress')
    return 'An attempt of this delivery is due or running. Wait for the next attempt; then send it again.';
  if (error.code === 'webhook_paused') return 'The webhook is paused. Resume it; then send the delivery again.';
  return messageOf(error);
}
