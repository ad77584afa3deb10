import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useClient } from '../../../session.ts';
import { attemptsIntervalMs } from '../webhook-state.ts';

/**
 * Returns the id of the recovery whose progress the screen of a webhook shows, if there is one, and a function that sets it. A
 * running recovery is found by itself, whoever began it; it is still shown after its end.
 */
export function useShownRecovery(id: string): [string | null | undefined, (recoveryId: string) => void] {
  const client = useClient();
  const queries = useQueryClient();
  const queryKey = ['webhooks', id, 'shown recovery'];
  const { data } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const { data } = await client.listRecoveries({ params: { id }, query: { limit: 1 }, signal });
      const [newest] = data;
      if (newest?.state === 'running') return newest.id;
      return queries.getQueryData<string | null>(queryKey) ?? null;
    },
    // A recovery can have begun while another screen was open.
    staleTime: 0,
    refetchInterval: attemptsIntervalMs,
  });
  return [data, (recoveryId) => queries.setQueryData(queryKey, recoveryId)];
}
