import { ulidOf } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import {
  type ExecutionHead,
  executionFrom,
  executionKind,
  executionMembership,
} from '../../../lib/table/executions/execution-items.ts';
import { keys } from '../../../lib/table/keys.ts';
import type { ListMembership } from '../../../lib/table/lists/listing.ts';
import { purgeFrom, purgeKind } from '../../../lib/table/purges/purge-items.ts';
import type { Item } from '../../../lib/table/write.ts';
import { nameOf } from '../tasks/seed.ts';

/** All items of an organization by key. */
type Dump = Record<string, unknown>;

const itemsOf = (dump: Dump, kind: string) => (Object.values(dump) as Item[]).filter((item) => item.kind === kind);

/** Returns the ids of the agents that have a purge. */
function purgedAgents(dump: Dump): string[] {
  const purges = itemsOf(dump, purgeKind).map(purgeFrom);
  return purges.flatMap((purge) => ('agentId' in purge ? purge.agentId : []));
}

/** Returns the heads of all executions. */
export function executionsAmong(dump: Dump): ExecutionHead[] {
  return itemsOf(dump, executionKind).map(executionFrom);
}

/**
 * Returns the expected list membership of an execution. An execution of a deleted agent is only in the list of that
 * agent until it is purged.
 */
export function expectedMembership(dump: Dump): (execution: ExecutionHead) => ListMembership {
  const deleted = new Set(purgedAgents(dump));
  return (execution) => {
    const membership = executionMembership(execution);
    const own = keys.executionScope(execution.organization, ulidOf(execution.agentId)).rows;
    const lists = membership.lists.filter(({ rows }) => !deleted.has(execution.agentId) || rows === own);
    return { ...membership, lists };
  };
}

/** Returns the expected counters: the number of running executions, and the metrics of each agent and day. */
export function countsOf(organization: Organization, executions: readonly ExecutionHead[]): Map<string, Item> {
  const items = new Map<string, Item>();
  const add = (key: Item, numbers: Record<string, number>) => {
    const item = items.get(nameOf(key)) ?? key;
    const sums = Object.entries(numbers)
      .filter(([, number]) => number !== 0)
      .map(([name, number]) => [name, ((item[name] as number | undefined) ?? 0) + number]);
    items.set(nameOf(key), { ...item, ...Object.fromEntries(sums) });
  };
  for (const { agentId, startedAt, status, tokensUsed = 0, durationMs = 0 } of executions)
    if (status === 'running') add(keys.running(organization), { running: 1 });
    else
      add(keys.metricsOfDay(organization, ulidOf(agentId), startedAt.slice(0, 10)), {
        ...{ [status]: 1, tokens: tokensUsed, durationMs, [bucketOf(durationMs)]: 1 },
      });
  return items;
}

/** Returns the bucket of a duration. Each bucket is a tenth wider than the one before. */
function bucketOf(durationMs: number): string {
  let nth = 0;
  while (durationMs >= 1.1 ** nth) nth++;
  return `h${nth}`;
}

/** Returns the parts without a head, the heads without an input, and the executions without an agent or purge. */
export function tornExecutions(organization: Organization, dump: Dump): string[] {
  const prefix = keys.execution(organization, '');
  const parts = (Object.values(dump) as Item[]).filter(({ pk }) => (pk as string).startsWith(prefix));
  const known = new Set([...itemsOf(dump, 'agent').map(({ id }) => id), ...purgedAgents(dump)]);
  return [
    ...parts.filter(({ pk }) => !(`${pk} M` in dump)).map((item) => `${nameOf(item)} has no head`),
    ...parts.filter(({ pk, sk }) => sk === 'M' && !(`${pk} IN` in dump)).map((item) => `${nameOf(item)} has no input`),
    ...executionsAmong(dump)
      .filter(({ agentId }) => !known.has(agentId))
      .map(({ id, agentId }) => `${id} is of ${agentId}, which has neither an item nor a purge`),
  ];
}

/** Returns the delegations whose execution does not exist or has another delegation id. */
export function tornDelegations(organization: Organization, dump: Dump): string[] {
  const { pk: delegations } = keys.delegation(organization, '');
  const executions = new Map(executionsAmong(dump).map((one) => [one.id, one]));
  return (Object.values(dump) as Item[])
    .filter(({ pk }) => pk === delegations)
    .filter(({ sk, executionId }) => executions.get(executionId as string)?.delegationId !== `dl_${sk}`)
    .map(({ sk, executionId }) => `dl_${sk} is of ${executionId}, which has another delegation id or does not exist`);
}
