import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type Client, CrewboardError } from '../../../client/client.ts';
import type { TaskReference } from '../../../client/operations.ts';
import { useClient, useScope } from '../../session.ts';
import { isId } from '../format/is-id.ts';

/** How long the user has to stop typing before a search, in milliseconds. */
const pauseMs = 200;

/** The shortest and the longest text that can be searched for, and the number of tasks that are found at most. */
const [shortest, longest, most] = [2, 100, 10];

/** What a search has found, and for which text: the user may have typed on since. */
export type FoundTasks = { text: string; tasks: readonly TaskReference[] };

/** Searches tasks by the words of their titles, or by a whole id. Nothing is found before the user stops typing. */
export function useTaskSearch(typed: string): { found: FoundTasks; isSearching: boolean; error: Error | null } {
  const client = useClient();
  const canRead = useScope('tasks:read');
  const text = typed.trim().slice(0, longest);
  const paused = usePaused(text);
  const isEnabled = canRead && text.length >= shortest;
  const { data, error, isFetching } = useQuery({
    // Not a noun of events: what is found stays as it is while the user chooses.
    queryKey: ['task search', paused],
    queryFn: async ({ signal }): Promise<FoundTasks> => ({ text: paused, tasks: await search(client, paused, signal) }),
    enabled: isEnabled && paused.length >= shortest,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  return {
    found: isEnabled && data ? data : { text, tasks: [] },
    isSearching: isEnabled && (isFetching || paused !== text),
    error: isEnabled ? error : null,
  };
}

async function search(client: Client, text: string, signal: AbortSignal): Promise<readonly TaskReference[]> {
  if (!isId('tk', text)) return (await client.searchTasks({ query: { q: text, limit: most }, signal })).data;
  try {
    return [(await client.getTask({ params: { id: text }, signal })).data];
  } catch (error) {
    if (error instanceof CrewboardError && error.status === 404) return [];
    throw error;
  }
}

/** Returns a text as it was when it last stayed the same for a while. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
