import { useQuery } from '@tanstack/react-query';
import { useClient, useScope } from '../../session.ts';

/** Returns the names of the newest 100 agents, sorted; `undefined` before they are read, and without the scope. */
export function useAgentNames(): readonly string[] | undefined {
  const client = useClient();
  const canRead = useScope('agents:read');
  const { data } = useQuery({
    queryKey: ['agents', 'names'],
    queryFn: async ({ signal }) => {
      const { data } = await client.listAgents({ query: { limit: 100 }, signal });
      return data.map(({ name }) => name).sort();
    },
    enabled: canRead,
  });
  return data;
}
