import {
  type InfiniteData,
  keepPreviousData,
  type QueryClient,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { Answer } from '../../../client/client.ts';
import type { Agent, Operations, Period } from '../../../client/operations.ts';
import { useClient } from '../../session.ts';

/** The filters of the list of agents. */
export type AgentFilters = Pick<
  NonNullable<Operations['listAgents']['request']['query']>,
  'search' | 'category' | 'status'
>;

/** An agent, with the ETag that a change of it sends. */
export type VersionedAgent = { agent: Agent; etag: string | undefined };

/** A change of an agent has no event, so the data is read again whenever a screen shows it. */
const fresh = { staleTime: 0, refetchOnWindowFocus: true } as const;

/** The number of items of a page. */
const limit = 25;

/** Returns the offset of the next page of a list, if there is one. */
function nextOffset({ data, pagination }: { data: readonly unknown[]; pagination: { offset: number; total: number } }) {
  const next = pagination.offset + data.length;
  return data.length > 0 && next < pagination.total ? next : undefined;
}

/** Returns the items of the pages that are loaded. An item that moved to another page in the meantime occurs once. */
function itemsOf<Item>(
  { pages }: InfiniteData<{ data: Item[]; pagination: { total: number } }>,
  keyOf: (item: Item) => string,
) {
  return {
    items: [...new Map(pages.flatMap(({ data }) => data).map((item) => [keyOf(item), item])).values()],
    total: pages.at(-1)?.pagination.total ?? 0,
  };
}

/** Reads the agents that match the filters, page by page. */
export function useAgents(filters: AgentFilters) {
  const client = useClient();
  return useInfiniteQuery({
    ...fresh,
    queryKey: ['agents', 'list', filters],
    queryFn: ({ pageParam: offset, signal }) => client.listAgents({ query: { ...filters, limit, offset }, signal }),
    initialPageParam: 0,
    getNextPageParam: nextOffset,
    placeholderData: keepPreviousData,
    select: (data) => itemsOf(data, ({ id }) => id),
  });
}

const agentKey = (name: string) => ['agents', name, 'agent'];

/** Reads an agent and its ETag. */
export function useAgent(name: string) {
  const client = useClient();
  return useQuery({
    ...fresh,
    queryKey: agentKey(name),
    queryFn: async ({ signal }): Promise<VersionedAgent> =>
      versionedAgentOf(await client.getAgent({ params: { name }, signal })),
  });
}

/** Returns the agent of a response with its ETag. */
export function versionedAgentOf({ data, etag }: Answer<'getAgent' | 'updateAgent' | 'restorePrompt'>): VersionedAgent {
  return { agent: data, etag };
}

/** Stores an agent that a change returned, and reads everything else about agents again. A task says whether its agent starts by itself. */
export async function storeAgent(queries: QueryClient, versioned: VersionedAgent): Promise<void> {
  const queryKey = agentKey(versioned.agent.name);
  await queries.cancelQueries({ queryKey });
  queries.setQueryData(queryKey, versioned);
  void queries.invalidateQueries({ queryKey: ['agents'], predicate: ({ queryKey }) => queryKey[2] !== 'agent' });
  void queries.invalidateQueries({ queryKey: ['tasks', 'one'] });
}

/** Reads the metrics of an agent over a period, in total and by day. */
export function useMetrics(name: string, period: Period) {
  const client = useClient();
  return useQuery({
    ...fresh,
    queryKey: ['agents', name, 'metrics', period],
    queryFn: async ({ signal }) =>
      (await client.getMetrics({ params: { name }, query: { period, series: 'daily' }, signal })).data,
    placeholderData: keepPreviousData,
  });
}

/** Reads the versions of an agent's prompt, page by page. */
export function useVersions(name: string) {
  const client = useClient();
  return useInfiniteQuery({
    ...fresh,
    queryKey: ['agents', name, 'prompts'],
    queryFn: ({ pageParam: offset, signal }) =>
      client.listPrompts({ params: { name }, query: { limit, offset }, signal }),
    initialPageParam: 0,
    getNextPageParam: nextOffset,
    select: (data) => itemsOf(data, ({ hash, version = 0 }) => `${version} ${hash}`),
  });
}

/** Reads the text of a version, which never changes. */
export function usePrompt(name: string, hash: string | undefined) {
  const client = useClient();
  return useQuery({
    queryKey: ['prompts', name, hash],
    queryFn: async ({ signal }) =>
      (await client.getPrompt({ params: { name, hash: hash as string }, signal })).data.systemPrompt,
    enabled: hash !== undefined,
  });
}

/** Executions do not change skills, so the key is not that of a noun that events name. */
const skillsKey = (name: string) => ['skills', name];

/** Reads the skills of an agent. */
export function useSkills(name: string) {
  const client = useClient();
  return useQuery({
    ...fresh,
    queryKey: skillsKey(name),
    queryFn: async ({ signal }) => (await client.listSkills({ params: { name }, signal })).data,
  });
}

/** Returns a function that reads the skills of an agent again. */
export function useSkillsRefresh(name: string): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: skillsKey(name) });
}

/** Reads the skills that the deployment offers. */
export function useSkillCatalogue() {
  const client = useClient();
  return useQuery({
    queryKey: ['skill-catalogue'],
    queryFn: async ({ signal }) => (await client.listSkillCatalogue({ signal })).data,
  });
}

/** Reads the self-improvement passes of an agent, page by page. */
export function useImprovements(name: string) {
  const client = useClient();
  return useInfiniteQuery({
    ...fresh,
    queryKey: ['agents', name, 'improvements'],
    queryFn: ({ pageParam: offset, signal }) =>
      client.listImprovements({ params: { name }, query: { limit, offset }, signal }),
    initialPageParam: 0,
    getNextPageParam: nextOffset,
    select: (data) => itemsOf(data, ({ id }) => id),
  });
}

/** Reads an execution. Its events make the follower read it again. */
export function useExecution(name: string, id: string | undefined) {
  const client = useClient();
  return useQuery({
    queryKey: ['executions', name, id],
    queryFn: async ({ signal }) => (await client.getExecution({ params: { name, id: id as string }, signal })).data,
    enabled: id !== undefined,
  });
}
