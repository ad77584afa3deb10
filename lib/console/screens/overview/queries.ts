import { queryOptions } from '@tanstack/react-query';
import type { Client } from '../../../client/client.ts';

/** The number of executions and of events that the overview lists. */
const latestCount = 8;

/** The query for the number of tasks of each status. */
export function taskCounts(client: Client) {
  return queryOptions({
    queryKey: ['tasks', 'counts', 'status'],
    queryFn: async ({ signal }) => (await client.countTasks({ query: { group_by: 'status' }, signal })).data,
  });
}

/** The query for the number of tasks that wait for a review, and the newest of them. The total of the list is exact. */
export function tasksInReview(client: Client) {
  return queryOptions({
    queryKey: ['tasks', 'in review'],
    queryFn: ({ signal }) => client.listTasks({ query: { waiting_for: 'review', limit: 5 }, signal }),
  });
}

/** The query for the latest executions. */
export function latestExecutions(client: Client) {
  return queryOptions({
    queryKey: ['executions', 'latest'],
    queryFn: ({ signal }) =>
      client.listExecutions({ query: { include: ['results', 'subject'], limit: latestCount }, signal }),
  });
}

/** The query for the number of running executions, and the newest of them. */
export function runningExecutions(client: Client) {
  return queryOptions({
    queryKey: ['executions', 'running'],
    queryFn: ({ signal }) => client.listExecutions({ query: { status: 'running', limit: 3 }, signal }),
  });
}

/** The query for the metrics of all executions of the last seven days. */
export function weekMetrics(client: Client) {
  return queryOptions({
    queryKey: ['executions', 'metrics', '7d'],
    queryFn: async ({ signal }) => (await client.getExecutionMetrics({ query: { period: '7d' }, signal })).data,
  });
}

/** The query for the latest events. */
export function latestEvents(client: Client) {
  return queryOptions({
    queryKey: ['events', 'latest'],
    queryFn: async ({ signal }) => (await client.listEvents({ query: { limit: latestCount }, signal })).data,
  });
}
