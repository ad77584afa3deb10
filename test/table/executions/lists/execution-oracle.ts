import { isDeepStrictEqual } from 'node:util';
import { ulidOf } from '../../../../lib/contract/ids.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { keys } from '../../../../lib/table/access/keys.ts';
import type { Item } from '../../../../lib/table/access/write.ts';
import { type ExecutionHead, executionFrom, executionKind } from '../../../../lib/table/executions/execution-items.ts';
import { purgeFrom, purgeKind } from '../../../../lib/table/purges/purge-items.ts';
import { nameOf } from '../../tasks/seed.ts';

/** All items of an organization by key. */
type Dump = Record<string, unknown>;

const itemsOf = (dump: Dump, kind: string) => (Object.values(dump) as Item[]).filter((item) => item.kind === kind);
const itemsIn = (dump: Dump, prefix: string) =>
  (Object.values(dump) as Item[]).filter(({ pk }) => (pk as string).startsWith(prefix));

/** Returns the heads of all executions. */
export function executionsAmong(dump: Dump): ExecutionHead[] {
  return itemsOf(dump, executionKind).map(executionFrom);
}

/** Returns the expected counters: the number of running executions, and the metrics of each day, of each agent and of all. */
export function countsOf(organization: Organization, executions: readonly ExecutionHead[]): Map<string, Item> {
  const items = new Map<string, Item>();
  const add = (key: Item, numbers: Record<string, number>) => {
    const item = items.get(nameOf(key)) ?? key;
    const sums = Object.entries(numbers).map(([name, number]) => [name, ((item[name] as number) ?? 0) + number]);
    items.set(nameOf(key), { ...item, ...Object.fromEntries(sums) });
  };
  for (const { agentId, startedAt, promptHash, status, tokensUsed = 0, durationMs = 0 } of executions)
    if (status === 'running') add(keys.running(organization), { running: 1 });
    else {
      const date = startedAt.slice(0, 10);
      const numbers = { [status]: 1, tokens: tokensUsed, durationMs, [bucketOf(durationMs)]: 1 };
      add(keys.metricsOfDay(organization, date, ulidOf(agentId), promptHash), numbers);
      add(keys.metricsOfDay(organization, date), numbers);
    }
  return items;
}

/** Returns the bucket of a duration. Each bucket is a tenth wider than the one before. */
function bucketOf(durationMs: number): string {
  let nth = 0;
  while (durationMs >= 1.1 ** nth) nth++;
  return `h${nth}`;
}

/**
 * Returns the metrics that are not the sums of the ended executions of their day, and of their agent. The metrics of
 * the organization may be greater: executions of deleted agents stay in them.
 */
export function wrongMetrics(organization: Organization, dump: Dump): string[] {
  const ended = executionsAmong(dump).filter(({ status }) => status !== 'running');
  const expected = countsOf(organization, ended);
  const stored = new Map(itemsIn(dump, keys.metrics(organization)).map((item) => [nameOf(item), item]));
  const names = new Set([...expected.keys(), ...stored.keys()]);
  return [...names]
    .filter((name) => !isCounted(organization, stored.get(name), expected.get(name)))
    .map((name) => `${name} is ${JSON.stringify(stored.get(name))}, not ${JSON.stringify(expected.get(name))}`);
}

function isCounted(organization: Organization, stored: Item = {}, expected: Item = {}): boolean {
  if ((stored.pk ?? expected.pk) !== keys.metrics(organization)) return isDeepStrictEqual(stored, expected);
  const { pk, sk, ...numbers } = expected;
  return Object.entries(numbers).every(([name, number]) => ((stored[name] as number) ?? 0) >= (number as number));
}

/** Returns parts without a head, heads without an input, an agent or a purge, and delegations without their execution. */
export function tornExecutions(organization: Organization, dump: Dump): string[] {
  const parts = itemsIn(dump, keys.execution(organization, ''));
  const purged = itemsOf(dump, purgeKind).map(purgeFrom);
  const known = new Set([
    ...itemsOf(dump, 'agent').map(({ id }) => id),
    ...purged.flatMap((purge) => ('agentId' in purge ? purge.agentId : [])),
  ]);
  const executions = executionsAmong(dump);
  const delegations = new Map(executions.map(({ id, delegationId }) => [id, delegationId]));
  return [
    ...parts.filter(({ pk }) => !(`${pk} M` in dump)).map((item) => `${nameOf(item)} has no head`),
    ...parts.filter(({ pk, sk }) => sk === 'M' && !(`${pk} IN` in dump)).map((item) => `${nameOf(item)} has no input`),
    ...executions.filter(({ agentId }) => !known.has(agentId)).map(({ id }) => `${id} has no agent and no purge`),
    ...itemsIn(dump, keys.delegation(organization, '').pk)
      .filter(({ sk, executionId }) => delegations.get(executionId as string) !== `dl_${sk}`)
      .map(({ sk }) => `dl_${sk} has no execution`),
  ];
}
