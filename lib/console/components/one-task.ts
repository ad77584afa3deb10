import { queryOptions } from '@tanstack/react-query';
import type { Client } from '../../client/client.ts';

/** The query for a task. */
export function oneTask(client: Client, id: string) {
  return queryOptions({
    queryKey: ['tasks', 'one', id],
    queryFn: ({ signal }) => client.getTask({ params: { id }, signal }),
  });
}
