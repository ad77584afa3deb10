import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { tableSchema } from '../../names/table-schema.ts';
import type { TableContext } from '../access/client.ts';
import { keys, organizationOf } from '../access/keys.ts';
import { getItem } from '../access/reads.ts';
import { Conflict, transact, transactIfFirst } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { dueEntry } from '../lists/due.ts';

/**
 * An agent that starts by itself has an item that says when the service looks whether it starts: it is due after everything that
 * can let it start, although a message makes the service look at once. It also counts the executions that the service has started
 * for the agent. Each start has the condition that the count is as it was read, so two looks at the same time start no more than one.
 */
export type WakeUp = {
  name: string;
  /** How many executions the service has started for the agent. */
  starts: number;
  /** How often something has changed in the agent that can let it start. */
  asked: number;
  /** When the service looks; ISO 8601. Absent if it need not. */
  dueAt?: string;
  /** Until when a limit of the organization does not let it start; ISO 8601. */
  limitedUntil?: string;
};

/** The partition of the sweeper's index that lists agents. */
export const wakePartition = 'wake';

/** The kind of these items in the stream. */
export const wakeKind = 'agent-wake';

type NamedAgent = { id: string; name: string };

/** Returns the wake-up of an agent, strongly consistent. */
export async function readWakeUp(
  { table }: TableContext,
  organization: Organization,
  { id, name }: NamedAgent,
): Promise<WakeUp> {
  const item = await getItem(table, keys.agentWake(organization, ulidOf(id)));
  return item ? wakeFrom(item) : { name, starts: 0, asked: 0 };
}

/** Returns the wake-up that an item stores. */
export function wakeFrom({ name, starts = 0, asked = 0, dueAt, limitedUntil }: Item): WakeUp {
  return {
    name,
    starts,
    asked,
    ...(dueAt !== undefined && { dueAt }),
    ...(limitedUntil !== undefined && { limitedUntil }),
  } as WakeUp;
}

/** Returns the organization of such an item. */
export const organizationOfWake = ({ pk }: Item): Organization => organizationOf(pk as string);

/**
 * Returns the write that lets the service look at an agent, for the transaction that changes the agent. The stream has it, so that
 * the service looks at once.
 *
 * @param dueAt when the sweeper looks, if it did not; ISO 8601
 */
export function askWrite(organization: Organization, { id, name }: NamedAgent, dueAt: string): Write {
  return wakeWrite(organization, { id, name }, { dueAt, add: 'asked' });
}

/** Lets the sweeper look at an agent, if the look that follows this is lost. */
export async function noteWakeUp(
  { table }: TableContext,
  organization: Organization,
  agent: NamedAgent,
  dueAt: string,
): Promise<void> {
  await transact(table, [wakeWrite(organization, agent, { dueAt })]);
}

/** Lets the sweeper look at an agent when a limit lets it start again. */
export async function noteLimit(
  { table }: TableContext,
  organization: Organization,
  agent: NamedAgent,
  until: string,
): Promise<void> {
  await transact(table, [wakeWrite(organization, agent, { dueAt: until, limitedUntil: until })]);
}

function wakeWrite(
  organization: Organization,
  { id, name }: NamedAgent,
  { dueAt, limitedUntil, add }: { dueAt: string; limitedUntil?: string; add?: 'asked' },
): Write {
  const { partitionKey, sortKey } = tableSchema.dueIndex;
  const entry = dueEntry(wakePartition, dueAt);
  return {
    Update: {
      Key: keys.agentWake(organization, ulidOf(id)),
      UpdateExpression: `SET kind = :kind, #name = :name, #due = :due, #dueAt = :dueAt${limitedUntil ? ', limitedUntil = :limited' : ''}${add ? ` ADD ${add} :one` : ''}`,
      ExpressionAttributeNames: { '#name': 'name', '#due': partitionKey, '#dueAt': sortKey },
      ExpressionAttributeValues: {
        ...{ ':kind': wakeKind, ':name': name, ':due': entry[partitionKey], ':dueAt': entry[sortKey] },
        ...(limitedUntil && { ':limited': limitedUntil }),
        ...(add && { ':one': 1 }),
      },
    },
    // Only the mark of a repeated write is a condition.
    onConditionFailed: () => new Conflict(),
  };
}

/**
 * Returns the write that counts a start by the service.
 *
 * @param wakeUp as it was read, before the running executions of the agent were
 */
export function countAutoStart(organization: Organization, { id, name }: NamedAgent, { starts }: WakeUp): Write {
  return {
    Update: {
      Key: keys.agentWake(organization, ulidOf(id)),
      UpdateExpression: 'SET kind = :kind, #name = :name, starts = :next REMOVE limitedUntil',
      ConditionExpression: starts === 0 ? 'attribute_not_exists(starts)' : 'starts = :starts',
      ExpressionAttributeNames: { '#name': 'name' },
      ExpressionAttributeValues: {
        ...{ ':kind': wakeKind, ':name': name, ':next': starts + 1 },
        ...(starts > 0 && { ':starts': starts }),
      },
    },
    onConditionFailed: () => new Conflict(),
  };
}

/** Takes an agent off the sweeper's list, unless something has let the service look again since the wake-up was read. */
export async function endWakeUp(
  { table }: TableContext,
  organization: Organization,
  { id }: Pick<NamedAgent, 'id'>,
  { dueAt, asked }: WakeUp,
): Promise<void> {
  if (dueAt === undefined) return;
  const { partitionKey, sortKey } = tableSchema.dueIndex;
  const write: Write = {
    Update: {
      Key: keys.agentWake(organization, ulidOf(id)),
      UpdateExpression: 'REMOVE #due, #dueAt',
      ConditionExpression: `#dueAt = :dueAt AND ${asked === 0 ? 'attribute_not_exists(asked)' : 'asked = :asked'}`,
      ExpressionAttributeNames: { '#due': partitionKey, '#dueAt': sortKey },
      ExpressionAttributeValues: { ':dueAt': dueAt, ...(asked > 0 && { ':asked': asked }) },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transactIfFirst(table, [write]);
}
