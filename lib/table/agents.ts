import type { AgentListItem } from '../contract/agents.ts';
import { ApiError, notFound } from '../contract/errors.ts';
import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import {
  type AgentHead,
  agentFrom,
  agentItem,
  hashOf,
  headOf,
  type PromptChange,
  type PromptChangeReason,
  promptChangeItem,
  type StoredAgent,
  textItems,
  textKeys,
  wholeAgent,
} from './agent-items.ts';
import type { TableContext } from './client.ts';
import type { RecordResponse } from './idempotency.ts';
import { keys } from './keys.ts';
import { agentPurgeWrite } from './purge-items.ts';
import { getItem, getItems, queryItems } from './reads.ts';
import { Conflict, ignoreConflict, retryOnConflict, transact } from './transact.ts';
import type { Write } from './write.ts';

/** A skill as an agent has it; what it says is in the catalogue. */
export type Assignment = { id: string; assignedAt: string };

/**
 * The part of a context that functions on agents need. An agent's item is small; its prompt and soul stand beside it under
 * their hashes, so that a reader of the item finds the very texts that belong to it.
 */
export type AgentContext = TableContext & {
  /** The model of agents that were put before agents had models. */
  defaultModel: string;
};

/** Returns the agent as it is now, without its prompt and soul. */
export async function readAgentHead(
  { table, defaultModel }: AgentContext,
  organization: Organization,
  name: string,
): Promise<AgentHead | undefined> {
  const item = await getItem(table, keys.agent(organization, name));
  return item && agentFrom(item, defaultModel);
}

/** Returns the agent as it is now. */
export function readAgent(
  context: AgentContext,
  organization: Organization,
  name: string,
): Promise<StoredAgent | undefined> {
  const { table } = context;
  return retryOnConflict(table, async () => {
    const found = await readAgentHead(context, organization, name);
    if (!found) return undefined;
    const wanted = textKeys(organization, found);
    const texts = await getItems(table, wanted);
    // An agent's texts are there for as long as it is: this one was deleted, and purged, in between.
    if (texts.length < wanted.length && (await readAgentHead(context, organization, name))?.id !== found.id)
      throw new Conflict();
    return wholeAgent(found, texts);
  });
}

/** Returns all agents of an organization, newest first. They are few: one partition. */
export async function readAgents(
  { table, defaultModel }: AgentContext,
  organization: Organization,
): Promise<AgentListItem[]> {
  const items = await Array.fromAsync(queryItems(table, { pk: keys.agents(organization) }));
  return items.map((item) => agentFrom(item, defaultModel)).sort((a, b) => (a.id < b.id ? 1 : -1));
}

/**
 * Puts a new agent, its texts and the idempotency record, or nothing.
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
    ...(recordResponse ? [recordResponse(agent)] : []),
  ]);
}

/** Puts the agents that an organization starts with; those that it has already are left as they are. */
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

/** Why an agent is changed, and further writes of the same transaction. */
export type AgentChange = { why: PromptChangeReason; summary?: string; also?: readonly Write[] };

/**
 * Changes an agent from what was read to what was decided.
 *
 * @throws `Conflict` when it is no longer what was read
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
        ...asRead(before),
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

/** Returns the changes of an agent's prompt, the newest first; the text of each is under its hash. */
export async function readPromptChanges(
  { table }: TableContext,
  organization: Organization,
  agentId: string,
): Promise<PromptChange[]> {
  const pk = keys.agentTexts(organization, ulidOf(agentId));
  const items = await Array.fromAsync(queryItems(table, { pk, from: '@', to: '@~' }));
  return items.map(({ pk: _, sk: __, ...change }) => change as PromptChange);
}

/** Returns the prompt that a hash names, of those that an agent has had. */
export async function readPrompt(
  { table }: TableContext,
  organization: Organization,
  agentId: string,
  hash: string,
): Promise<string | undefined> {
  if (hash === hashOf('')) return '';
  const item = await getItem(table, keys.agentText(organization, ulidOf(agentId), hash));
  return item?.text as string | undefined;
}

/**
 * Deletes an agent, and puts a purge of what belongs to it: nothing of that can be reached any more.
 *
 * @throws `Conflict` when it is no longer what was read
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
        ...asRead(agent),
      },
      onConditionFailed: () => new Conflict(),
    },
    agentPurgeWrite({ organization, agentId: agent.id }, purgeDueAt),
  ]);
}

/** Returns the skills of an agent, in the order in which they were assigned. */
export async function readAgentSkills(
  { table }: TableContext,
  organization: Organization,
  agentId: string,
): Promise<Assignment[]> {
  const pk = keys.agentSkills(organization, ulidOf(agentId));
  const items = await Array.fromAsync(queryItems(table, { pk }));
  const order = ({ id, assignedAt }: Assignment) => `${assignedAt} ${id}`;
  return items
    .map(({ sk, assignedAt }) => ({ id: sk as string, assignedAt: assignedAt as string }))
    .sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/**
 * Gives an agent a skill. One that it has already stays as it is.
 *
 * @throws `ApiError` `not_found` when the agent is gone
 */
export async function insertAgentSkill(
  { table }: TableContext,
  organization: Organization,
  agent: AgentHead,
  skill: Assignment,
  recordResponse: RecordResponse,
): Promise<void> {
  const Key = keys.agentSkill(organization, ulidOf(agent.id), skill.id);
  const assigned: Write = {
    Put: { Item: { ...Key, assignedAt: skill.assignedAt }, ConditionExpression: 'attribute_not_exists(pk)' },
    onConditionFailed: () => new Conflict(),
  };
  const answered = recordResponse ? [recordResponse({})] : [];
  await retryOnConflict(table, async () => {
    const had = (await getItem(table, Key)) !== undefined;
    if (had && answered.length === 0) return;
    await transact(table, had ? answered : [touch(organization, agent), assigned, ...answered]);
  });
}

/**
 * Takes a skill from an agent.
 *
 * @throws `ApiError` `not_found` when it does not have it, or is gone
 */
export async function removeAgentSkill(
  { table }: TableContext,
  organization: Organization,
  agent: AgentHead,
  skillId: string,
): Promise<void> {
  await transact(table, [
    touch(organization, agent),
    {
      Delete: {
        Key: keys.agentSkill(organization, ulidOf(agent.id), skillId),
        ConditionExpression: 'attribute_exists(pk)',
      },
      onConditionFailed: () => notFound(),
    },
  ]);
}

/** The refusal of an agent that does not exist, named in the field `path`. */
export function unknownAgent(name: string, path: string): ApiError {
  return new ApiError('unknown_reference', 'The request names something that does not exist.', [
    { path, code: 'not_found', message: `There is no agent named ${name}.` },
  ]);
}

function nameTaken(name: string): ApiError {
  return new ApiError('name_taken', `There is an agent named ${name} already; choose another name.`, [
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

/** The condition that an agent is still the one that was read. */
function asRead({ id, version }: Pick<AgentHead, 'id' | 'version'>) {
  return {
    ConditionExpression: 'id = :id AND #version = :version',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':id': id, ':version': version },
  };
}

/** Its skills are part of what an agent says to a model, so they make another version of it. */
function touch(organization: Organization, { name, id }: AgentHead): Write {
  return {
    Update: {
      Key: keys.agent(organization, name),
      UpdateExpression: 'ADD #version :one',
      ConditionExpression: 'id = :id',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':id': id, ':one': 1 },
    },
    onConditionFailed: () => notFound(),
  };
}
