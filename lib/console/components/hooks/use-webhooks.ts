import { useQuery } from '@tanstack/react-query';
import { useClient, useScope } from '../../session.ts';

/** Reads all webhooks, newest first; none without the scope. */
export function useWebhooks() {
  const client = useClient();
  const canRead = useScope('webhooks:read');
  return useQuery({
    queryKey: ['webhooks', 'list'],
    queryFn: async ({ signal }) => (await client.listWebhooks({ signal })).data,
    enabled: canRead,
  });
}
