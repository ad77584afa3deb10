import { queryOptions } from '@tanstack/react-query';
import type { Client } from '../../../client/client.ts';
import { useClient, useScope } from '../../session.ts';

/** The query for a task. The keys of all queries about one task begin with its key. */
export function oneTask(client: Client, id: string) {
  return queryOptions({
    queryKey: ['tasks', 'one', id],
    queryFn: ({ signal }) => client.getTask({ params: { id }, signal }),
  });
}

/** Returns the query for a task with the result of the newest execution on it; without it, if the token must not read results. */
export function useTaskWithResult(id: string) {
  const client = useClient();
  const canReadResults = useScope('agents:read');
  return queryOptions({
    queryKey: [...oneTask(client, id).queryKey, 'result'],
    queryFn: ({ signal }) =>
      client.getTask({ params: { id }, query: canReadResults ? { include: 'result' } : {}, signal }),
  });
}
