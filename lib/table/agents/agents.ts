import type { AgentListItem } from '../../contract/agents/agents.ts';
import { ApiError, notFound } from '../../contract/errors.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { ascending, descending } from '../../contract/texts/order.ts';
import type { TableContext } from '../access/client.ts';
import { authorship, noAuthorship } from '../access/current-request.ts';
import { keys } from '../access/keys.ts';
import { updateOf } from '../access/patch.ts';
import { getItem, getItems, readRange } from '../access/reads.ts';
import { Conflict, ignoreConflict, retryOnConflict, transact } from '../access/transact.ts';
import type { Write } from '../access/write.ts';
import type { RecordResponse } from '../idempotency.ts';
import { agentPurgeWrite } from '../purges/purge-items.ts';
import {
  type AgentHead,
  agentFrom,
  agentItem,
  headOf,
  type PromptChangeReason,
  promptChangeItem,
  type SkillChange,
  type StoredAgent,
  textItems,
  textKeys,
  wholeAgent,
} from './agent-items.ts';

/** A skill that is assigned to an agent. Its text is in the catalogue. */
export type Assignment = { id: string; assignedAt: string };

/**
 * The part of a context that functions on agents need. The item of an agent is small. Its prompt and soul are other
 * items under their hashes, so a reader of the agent always finds the texts of the same version.
 */
export type AgentContext = TableContext & {
  /** The model of agents that a version without models wrote. */
  defaultModel: string;
};

/** Returns an agent without its prompt and soul, strongly consistent; `undefined` if it does not exist. */
export async function readAgentHead(
  { table, defaultModel }: AgentContext,
  organization: Organization,
  name: string,
): Promise<AgentHead | undefined> {
  const item = await getItem(table, keys.agent(organization, name));
  return item && agentFrom(item, defaultModel);
}

/** Returns an agent, strongly consistent; `undefined` if it does not exist. */
export function readAgent(
  context: AgentContext,
  organization: Organization,
  name: string,
): Promise<StoredAgent | undefined> {
  const { table } = context;
  return retryOnConflict(table, async () => {
    const found = await readAgentHead(context, organization, name);
    if (!found) return undefined;
    const neededKeys = textKeys(organization, found);
    const texts = await getItems(table, neededKeys);
    // Texts are only deleted with their agent. If one is missing, the agent was deleted and purged between the reads.
    if (texts.length < neededKeys.length && (await readAgentHead(context, organization, name))?.id !== found.id)
      throw new Conflict();
    return wholeAgent(found, texts);
  });
}

/** Returns all agents of an organization, newest first. They are one partition, because there are few. */
export async function readAgents(
  { table, defaultModel }: AgentContext,
  organization: Organization,
): Promise<AgentListItem[]> {
  const items = await readRange(table, { pk: keys.agents(organization) });
  return items.map((item) => agentFrom(item, defaultModel)).sort((a, b) => descending(a.id, b.id));
}

/**
 * Returns the names of the agents of an organization in alphabetical order, strongly consistent.
 *
 * @param limit the maximum number of names to read
 */
export async function readAgentNames(
  { table }: TableContext,
  organization: Organization,
  limit: number,
): Promise<string[]> {
  const range = { pk: keys.agents(organization), limit, only: [], ascending: true };
  const items = await readRange(table, range);
  return items.map(({ sk }) => sk as string);
}

/**
 * Inserts an agent with its texts and the idempotency record in one transaction.
 *
 * @throws `ApiError` `name_taken`
 */
export async function insertAgent(
  { table }: TableContext,
  organization: Organization,
  agent: StoredAgent,
  recordResponse: RecordResponse,
): Promise<void> {
  await transact(table, [
    ...putAgent(organization, agent, () => nameTaken(agent.name)),
    ...(recordResponse?.(agent) ?? []),
  ]);
}

/** Inserts the agents that do not exist yet. Existing agents stay as they are. */
export async function insertMissingAgents(
  { table }: TableContext,
  organization: Organization,
  agents: readonly StoredAgent[],
): Promise<void> {
  for (const agent of agents)
    await transact(
      table,
      putAgent(organization, agent, () => new Conflict()),
    ).catch(ignoreConflict);
}

/** The reason of a change of an agent, a summary of it, and further writes of the same transaction. */
export type AgentChange = { why: PromptChangeReason; summary?: string; also?: readonly Write[] };

/**
 * Changes an agent with its texts in one transaction.
 *
 * @param before the agent as it was read
 * @throws `Conflict` if the agent has changed since it was read
 */
export async function changeAgent(
  { table }: TableContext,
  organization: Organization,
  before: StoredAgent,
  after: StoredAgent,
  { why, summary, also = [] }: AgentChange = { why: 'changed' },
): Promise<void> {
  const known = textItems(organization, before).map(({ sk }) => sk);
  const change = { why, ...(summary !== undefined && { summary }) };
  await transact(table, [
    {
      Put: {
        Item: agentItem(organization, headOf(after)),
        ...unchanged(before),
      },
      onConditionFailed: () => new Conflict(),
    },
    ...textItems(organization, after)
      .filter(({ sk }) => !known.includes(sk))
      .map((Item) => ({ Put: { Item } })),
    ...(after.systemPrompt === before.systemPrompt
      ? []
      : [{ Put: { Item: promptChangeItem(organization, after, change) } }]),
    ...also,
  ]);
}

/**
 * Deletes an agent and writes the purge that deletes its other items later. No read finds these items any more.
 *
 * @param purgeDueAt from when the purge is run; ISO 8601
 * @throws `Conflict` if the agent has changed since it was read
 */
export async function removeAgent(
  { table }: TableContext,
  organization: Organization,
  agent: AgentHead,
  purgeDueAt: string,
): Promise<void> {
  await transact(table, [
    {
      Delete: {
        Key: keys.agent(organization, agent.name),
        ...unchanged(agent),
      },
      onConditionFailed: () => new Conflict(),
    },
    agentPurgeWrite({ organization, agentId: agent.id }, purgeDueAt),
  ]);
}

/** Returns the skills of an agent in the order of their assignment. */
export async function readAgentSkills(
  { table }: TableContext,
  organization: Organization,
  agentId: string,
): Promise<Assignment[]> {
  const pk = keys.agentSkills(organization, ulidOf(agentId));
  const items = await readRange(table, { pk });
  const order = ({ id, assignedAt }: Assignment) => `${assignedAt} ${id}`;
  return items
    .map(({ sk, assignedAt }) => ({ id: sk as string, assignedAt: assignedAt as string }))
    .sort((a, b) => ascending(order(a), order(b)));
}

/** Returns whether a skill is assigned to an agent, strongly consistent. */
export async function hasAgentSkill(
  { table }: TableContext,
  organization: Organization,
  agentId: string,
  skillId: string,
): Promise<boolean> {
  return (await getItem(table, keys.agentSkill(organization, ulidOf(agentId), skillId))) !== undefined;
}

/**
 * Assigns a skill to an agent, together with further writes.
 *
 * @param agent the agent as it was read
 * @throws `Conflict` if the agent has changed since it was read, or has the skill
 */
export async function insertAgentSkill(
  { table }: TableContext,
  organization: Organization,
  agent: AgentHead,
  { id, assignedAt }: Assignment,
  also: readonly Write[] = [],
): Promise<void> {
  const Key = keys.agentSkill(organization, ulidOf(agent.id), id);
  await transact(table, [
    changeSkill(organization, agent, { assigned: id, at: assignedAt }),
    {
      Put: { Item: { ...Key, assignedAt }, ConditionExpression: 'attribute_not_exists(pk)' },
      onConditionFailed: () => new Conflict(),
    },
    ...also,
  ]);
}

/**
 * Removes a skill from an agent.
 *
 * @param agent the agent as it was read
 * @param removedAt ISO 8601
 * @throws `Conflict` if the agent has changed since it was read; `ApiError` `not_found` if the skill is not assigned
 */
export async function removeAgentSkill(
  { table }: TableContext,
  organization: Organization,
  agent: AgentHead,
  skillId: string,
  removedAt: string,
): Promise<void> {
  await transact(table, [
    changeSkill(organization, agent, { removed: skillId, at: removedAt }),
    {
      Delete: {
        Key: keys.agentSkill(organization, ulidOf(agent.id), skillId),
        ConditionExpression: 'attribute_exists(pk)',
      },
      onConditionFailed: () => notFound('skill'),
    },
  ]);
}

/** Returns the error for an agent that does not exist, with its name in the field `path`. */
export function unknownAgent(name: string, path: string): ApiError {
  return new ApiError('unknown_reference', 'The request names a task or an agent that does not exist; see details.', [
    { path, code: 'not_found', message: `There is no agent named ${name}.` },
  ]);
}

function nameTaken(name: string): ApiError {
  return new ApiError('name_taken', `An agent named ${name} already exists; choose another name.`, [
    { path: 'name', code: 'invalid_value', message: `name ${name} is taken` },
  ]);
}

function putAgent(organization: Organization, agent: StoredAgent, onConditionFailed: () => Error): Write[] {
  return [
    {
      Put: { Item: agentItem(organization, headOf(agent)), ConditionExpression: 'attribute_not_exists(pk)' },
      onConditionFailed,
    },
    ...textItems(organization, agent).map((Item) => ({ Put: { Item } })),
    { Put: { Item: promptChangeItem(organization, agent, { why: 'created' }) } },
  ];
}

/** Returns the condition that an agent has not changed since it was read. */
function unchanged({ id, version }: Pick<AgentHead, 'id' | 'version'>) {
  return {
    ConditionExpression: 'id = :id AND #version = :version',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':id': id, ':version': version },
  };
}

/**
 * Returns the write that increments an agent's version, and notes the changed skill for its history. Skills are sent to its
 * model, so they change its version. The write fails if the agent has changed since it was read: its tools decide who may change its skills.
 */
function changeSkill(organization: Organization, agent: AgentHead, skill: SkillChange): Write {
  const { ExpressionAttributeNames, ExpressionAttributeValues, ...condition } = unchanged(agent);
  const update = updateOf({ ...noAuthorship, ...authorship(), skill });
  return {
    Update: {
      Key: keys.agent(organization, agent.name),
      UpdateExpression: `${update.UpdateExpression} ADD #version :one`,
      ...condition,
      ExpressionAttributeNames: { ...ExpressionAttributeNames, ...update.ExpressionAttributeNames },
      ExpressionAttributeValues: { ...ExpressionAttributeValues, ...update.ExpressionAttributeValues, ':one': 1 },
    },
    onConditionFailed: () => new Conflict(),
  };
}
