import type {
  Delegation,
  Execution,
  ExecutionListItem,
  ExecutionStatus,
  GateResult,
  QualityGates,
} from '../contract/executions.ts';
import { timeOf, timestamp, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { requestFields } from '../request-context.ts';
import { dueEntry } from './due.ts';
import { type Key, keys, organizationOf } from './keys.ts';
import type { ListMembership } from './listing.ts';
import { Conflict } from './transact.ts';
import type { Item } from './write.ts';

/** The kind that the stream tells executions by. */
export const executionKind = 'execution';

/** The partition of the sweeper's index that lists executions. */
export const executionPartition = 'execution';

/** An execution as its head stores it: all but what it was asked and what it has answered. */
export type ExecutionHead = Omit<Execution, 'input' | 'output' | 'qualityGates'> & {
  organization: Organization;
  agentId: string;
  selfTest: GateResult;
  qaReview: GateResult;
  /** The name of the agent that has handed it on, where one has. */
  delegatedBy?: string;
  /** The agents by which it was handed on, from the first on: none of them may be given it again. */
  ancestors?: string[];
  /** How often it was handed on. */
  depth?: number;
  /** The request that has started it, as far as it is known. */
  requestId?: string;
  /** How many leases of it were not given back: that of the worker which works on it now, and those of lost workers. */
  claims: number;
  /** Names the lease of the worker that works on it: only that worker may end it. */
  claim?: string;
  /** Until when no other worker may lease it; ISO 8601. */
  leaseUntil?: string;
  /** When a worker first leased it; ISO 8601. Absent before that, and on items of versions before this attribute. */
  firstLeasedAt?: string;
  /** What its workers did before they gave their leases back. */
  progress?: Progress;
  /** How many items its output has, so that a read knows whether it has met them all. */
  outputParts?: number;
};

/** What is kept of an execution whose worker gave its lease back because a model throttled. */
export type Progress = {
  /** How many leases were given back. */
  waits: number;
  /** How many passing faults the model had that does the work. */
  faults: number;
  /** Tokens of all calls to models. */
  tokens: number;
  /** The verdicts of the gates that were answered. */
  verdicts: Partial<QualityGates>;
};

/** An execution that runs. */
export type RunningExecution = ExecutionHead & { status: 'running' };

/** What an execution was asked: its instruction, and the key-values beside it. */
export type Asked = { input: string; context?: Record<string, unknown> };

/** What an execution has come to. */
export type Ending = {
  status: 'completed' | 'failed';
  completedAt: string;
  durationMs: number;
  tokensUsed: number;
  selfTest: GateResult;
  qaReview: GateResult;
  /** Why it failed: a fixed sentence. */
  error?: string;
};

/** The execution that an item of the kind stores; its start is its id's own time. */
export function executionFrom(item: Item): ExecutionHead {
  const { pk, sk: _, kind: __, due: ___, dueAt: ____, ...rest } = item;
  const ulid = ulidOf(pk as string);
  return {
    claims: 0,
    ...rest,
    organization: organizationOf(pk as string),
    id: `ex_${ulid}`,
    startedAt: timestamp(timeOf(ulid)),
  } as ExecutionHead;
}

/** The item of a new execution's head, in the sweeper's index from `dueAt` on. */
export function executionItem(execution: RunningExecution, dueAt: string): Item {
  const { organization, id, startedAt: _, claims: __, ...rest } = execution;
  const Key = keys.executionHead(organization, ulidOf(id));
  return { ...Key, kind: executionKind, ...rest, ...requestFields(), ...dueEntry(executionPartition, dueAt) };
}

/** The item of what an execution was asked. The context as JSON: text keeps its order, which a map would not. */
export function inputItem({ organization, id }: ExecutionHead, { input, context }: Asked): Item {
  return {
    ...keys.executionInput(organization, ulidOf(id)),
    input,
    ...(context && { context: JSON.stringify(context) }),
  };
}

/** The item of the delegation that an execution was started by. Where it stands is the execution's to say. */
export function delegationItem({ organization, id, delegationId = '', delegatedBy, agentName }: ExecutionHead): Item {
  const Key = keys.delegation(organization, ulidOf(delegationId));
  return { ...Key, fromAgent: delegatedBy, toAgent: agentName, executionId: id, ...requestFields() };
}

/** The delegation that an item stores, and where it stands as the execution stands. */
export function delegationFrom(
  { fromAgent, toAgent, sk }: Item,
  { status, claims, firstLeasedAt }: ExecutionHead,
): Delegation {
  return {
    delegationId: `dl_${sk}`,
    fromAgent: fromAgent as string,
    toAgent: toAgent as string,
    status: status === 'running' && claims === 0 && firstLeasedAt === undefined ? 'accepted' : status,
  };
}

/** What an execution was asked, from its item. */
export function askedFrom({ input, context }: Item): Asked {
  return {
    input: input as string,
    ...(context !== undefined && { context: JSON.parse(context as string) as Record<string, unknown> }),
  };
}

/** An output may be larger than an item, which holds 400 KB; so many bytes of it go into each. */
const partBytes = 300_000;

/** The items of an output, cut between characters. */
export function outputItems({ organization, id }: ExecutionHead, output: string): Item[] {
  const bytes = Buffer.from(output);
  const items: Item[] = [];
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(from + partBytes, bytes.length);
    // The bytes 10xxxxxx of UTF-8 go on with a character.
    while (to < bytes.length && ((bytes[to] as number) & 0xc0) === 0x80) to--;
    items.push({
      ...keys.executionOutput(organization, ulidOf(id), items.length),
      text: bytes.toString('utf8', from, to),
    });
    from = to;
  }
  return items;
}

/** Returns the keys of the items that hold the stored output of an execution. */
export function outputKeys({ organization, id, outputParts = 0 }: ExecutionHead): Key[] {
  return Array.from({ length: outputParts }, (_, part) => keys.executionOutput(organization, ulidOf(id), part));
}

/**
 * The execution of the single read, from all items of its partition; `undefined` where there is no head or input.
 *
 * @throws `Conflict` when the head is newer than the output: a query is not one moment, even in one partition
 */
export function wholeExecution(items: readonly Item[]): (Execution & { agentId: string }) | undefined {
  const named = (sk: string) => items.find((item) => item.sk === sk);
  const [head, asked] = [named('M'), named('IN')];
  if (!head || !asked) return undefined;
  const { selfTest, qaReview, outputParts = 0, ...rest } = executionFrom(head);
  const output = outputFrom(items, outputParts);
  return {
    ...rest,
    input: askedFrom(asked).input,
    ...(rest.status === 'completed' && { output }),
    qualityGates: { selfTest, qaReview },
  };
}

/**
 * The output that items of an execution's partition hold; other items are passed over.
 *
 * @throws `Conflict` when fewer parts are among them than the head says
 */
export function outputFrom(items: readonly Item[], outputParts: number): string {
  const parts = items.filter(({ sk }) => (sk as string).startsWith('OUT#')).sort((a, b) => partOf(a) - partOf(b));
  if (parts.length < outputParts) throw new Conflict();
  return parts.map(({ text }) => text).join('');
}

function partOf({ sk }: Item): number {
  return Number((sk as string).slice('OUT#'.length));
}

/** An execution as lists and events show it. */
export function listItemOf(execution: ExecutionHead): ExecutionListItem {
  const { id, agentName, taskId, status, startedAt, completedAt, durationMs } = execution;
  return {
    id,
    agentName,
    ...(taskId !== undefined && { taskId }),
    status,
    startedAt,
    ...(completedAt !== undefined && { completedAt }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

const facets: Record<ExecutionStatus, string> = { running: 'r', completed: 'c', failed: 'f' };

/** The facet of a status in the lists of executions. */
export const facetOf = (status: ExecutionStatus): string => facets[status];

/** Where an execution stands: in its organization's list and its agent's. A row is the list's entry itself. */
export function executionMembership(execution: ExecutionHead): ListMembership {
  const { organization, agentId, id, status } = execution;
  return {
    ulid: ulidOf(id),
    facet: facetOf(status),
    lists: [keys.executionScope(organization), keys.executionScope(organization, ulidOf(agentId))],
    entry: listItemOf(execution),
  };
}
