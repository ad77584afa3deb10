import type { Context } from '../context/context.ts';
import {
  type Agent,
  type AgentFilter,
  type AgentListItem,
  type AgentPatch,
  type AssignedSkill,
  type NewAgent,
  reservedNames,
} from '../contract/agents/agents.ts';
import { isAllowed } from '../contract/agents/models.ts';
import type { Skill } from '../contract/agents/skills.ts';
import type { Page, Precondition, Scope, Versioned } from '../contract/endpoint.ts';
import { ApiError, notFound } from '../contract/errors.ts';
import { timeOf, timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { retryOnConflict, transact } from '../table/access/transact.ts';
import type { StoredAgent } from '../table/agents/agent-items.ts';
import {
  type AgentContext,
  changeAgent,
  hasAgentSkill,
  insertAgent,
  insertAgentSkill,
  insertMissingAgents,
  readAgent,
  readAgentSkills,
  readAgents,
  removeAgent,
  removeAgentSkill,
} from '../table/agents/agents.ts';
import { askWrite } from '../table/agents/wake-ups.ts';
import { unlistExecutions } from '../table/executions/execution-removal.ts';
import { markExecutions } from '../table/executions/running-executions.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { readOrganizationSettings } from '../table/organizations/settings.ts';
import { authorizeAgentChange, authorizeConduct, authorizeTools } from './agent-permissions.ts';
import { losesRights, matching, mayStartMore, patchedAgent } from './decisions.ts';
import { requireAgent, requireAgentHead } from './require-agent.ts';
import { newSystemAgents } from './system-agents.ts';

/** Returns a page of the agents that match a filter, newest first, and their exact number. */
export async function listAgents(
  context: AgentContext,
  organization: Organization,
  filter: AgentFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<Page<AgentListItem>> {
  const agents = (await readAgents(context, organization)).filter(matching(filter));
  return { items: agents.slice(offset, offset + limit), total: agents.length };
}

/**
 * Creates an agent. An agent without a model gets the current default model, which later settings do not change.
 *
 * @param scopes the scopes of the caller
 * @throws `ApiError` `reserved_name`, `name_taken`, `validation_failed` for a model that is not allowed,
 *   `insufficient_scope` for tools that need other scopes
 */
export async function createAgent(
  context: Pick<Context, 'table' | 'ulid'> & ModelContext,
  organization: Organization,
  { model, ...fields }: NewAgent,
  recordResponse: RecordResponse,
  scopes: readonly Scope[],
): Promise<Agent> {
  if (reservedNames.includes(fields.name)) throw reservedName(fields.name);
  const chosen = await chooseModel(context, organization, model);
  authorizeTools(scopes, fields);
  authorizeConduct(scopes, fields);
  const id = context.ulid();
  const createdAt = timestamp(timeOf(id));
  const agent = {
    ...fields,
    id: `ag_${id}`,
    model: chosen,
    isSystem: false,
    version: 1,
    createdAt,
    updatedAt: createdAt,
  };
  await insertAgent(context, organization, agent, recordResponse);
  return agent;
}

/** Creates the system agents of an organization that do not exist yet. */
export async function createSystemAgents(
  context: Pick<Context, 'table' | 'ulid'> & ModelContext,
  organization: Organization,
): Promise<void> {
  const model = await readDefaultModel(context, organization);
  await insertMissingAgents(context, organization, newSystemAgents(context.ulid, model));
}

/**
 * Returns an agent.
 *
 * @throws `ApiError` `not_found`
 */
export async function getAgent(
  context: AgentContext,
  organization: Organization,
  name: string,
): Promise<Versioned<Agent>> {
  return versioned(await requireAgent(context, organization, name));
}

/**
 * Changes the fields of an agent that a patch names; equal values write nothing. If the agent loses a right, its running
 * executions are marked before the response (docs/architecture.md#agents-that-lose-rights).
 *
 * @param scopes the scopes of the caller
 * @throws `ApiError` `not_found`, `precondition_failed`, `validation_failed` for a model that is not allowed,
 *   `insufficient_scope` for tools that need other scopes; `unavailable` also if the agent is changed but its executions are
 *   not marked: their workers read the change then
 */
export async function updateAgent(
  context: Pick<Context, 'clock'> & ModelContext,
  organization: Organization,
  name: string,
  patch: AgentPatch,
  ifMatch: Precondition,
  scopes: readonly Scope[],
): Promise<Versioned<Agent>> {
  const { before, after } = await retryOnConflict(context.table, async () => {
    const before = await requireAgent(context, organization, name);
    ifMatch(before);
    const { model: named } = patch;
    const model = named === undefined ? undefined : await chooseModel(context, organization, named ?? undefined);
    const after = patchedAgent(before, { ...patch, model }, timestamp(context.clock()));
    authorizeAgentChange(scopes, before, after);
    const also = mayStartMore(before, after) ? [askWrite(organization, after, after.updatedAt)] : [];
    if (after !== before) await changeAgent(context, organization, before, after, { why: 'changed', also });
    return { before, after };
  });
  if (losesRights(before, after))
    await markExecutions(context, { organization, agentId: after.id }).catch((error: unknown) => {
      throw error instanceof ApiError ? executionsNotMarked(name) : error;
    });
  return versioned(after);
}

/**
 * Replaces the model of an agent if it is `from`.
 *
 * @returns whether it was replaced; `false` if the agent was deleted or has another model
 */
export function replaceAgentModel(
  context: AgentContext & Pick<Context, 'clock'>,
  organization: Organization,
  name: string,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  return retryOnConflict(context.table, async () => {
    const before = await readAgent(context, organization, name);
    if (before?.model !== from) return false;
    const after = patchedAgent(before, { model: to }, timestamp(context.clock()));
    await changeAgent(context, organization, before, after);
    return true;
  });
}

/**
 * Deletes an agent. With the response no read shows the agent or its executions, and these change nothing more; a purge
 * deletes their items later.
 *
 * @throws `ApiError` `not_found`, `precondition_failed`, `system_agent`; `unavailable` also if the agent is deleted
 *   but its executions are still in lists, until its purge removes them
 */
export async function deleteAgent(
  context: AgentContext & Pick<Context, 'clock'>,
  organization: Organization,
  name: string,
  ifMatch: Precondition,
): Promise<void> {
  const agentId = await retryOnConflict(context.table, async () => {
    const agent = await requireAgentHead(context, organization, name);
    ifMatch(agent);
    if (agent.isSystem)
      throw new ApiError('system_agent', `${name} is a system agent and cannot be deleted; set it inactive instead.`);
    await removeAgent(context, organization, agent, timestamp(context.clock()));
    return agent.id;
  });
  const deleted = { organization, agentId };
  try {
    await markExecutions(context, deleted);
    await unlistExecutions(context, deleted);
  } catch (error) {
    throw error instanceof ApiError ? executionsStillListed(name) : error;
  }
}

/**
 * Returns the skills of an agent. A skill that is no longer in the catalogue is left out.
 *
 * @throws `ApiError` `not_found`
 */
export async function listSkills(
  context: AgentContext,
  organization: Organization,
  name: string,
  catalogue: readonly Skill[],
): Promise<AssignedSkill[]> {
  const { id } = await requireAgentHead(context, organization, name);
  const assigned = await readAgentSkills(context, organization, id);
  return assigned.flatMap(({ id: skillId, assignedAt }) => {
    const skill = catalogue.find((one) => one.id === skillId);
    return skill ? [{ ...skill, assignedAt }] : [];
  });
}

/**
 * Assigns a skill of the catalogue to an agent. A skill that is already assigned stays as it is.
 *
 * @param scopes the scopes of the caller
 * @throws `ApiError` `not_found` for an agent or a skill that does not exist, `insufficient_scope` for tools of the agent
 *   that need other scopes
 */
export function assignSkill(
  context: AgentContext & Pick<Context, 'clock'>,
  organization: Organization,
  name: string,
  skillId: string,
  catalogue: readonly Skill[],
  recordResponse: RecordResponse,
  scopes: readonly Scope[],
): Promise<void> {
  const skill = { id: skillId, assignedAt: timestamp(context.clock()) };
  return retryOnConflict(context.table, async () => {
    const agent = await requireAgentHead(context, organization, name);
    if (!catalogue.some(({ id }) => id === skillId))
      throw new ApiError('not_found', 'The service has no such skill; GET /api/agents/skills lists all skills.', [
        { path: 'skillId', code: 'not_found', message: `There is no skill ${skillId}.` },
      ]);
    const records = recordResponse?.({}) ?? [];
    if (await hasAgentSkill(context, organization, agent.id, skillId)) {
      if (records.length > 0) await transact(context.table, records);
      return;
    }
    authorizeTools(scopes, agent);
    await insertAgentSkill(context, organization, agent, skill, records);
  });
}

/**
 * Removes a skill from an agent.
 *
 * @param scopes the scopes of the caller
 * @throws `ApiError` `not_found` for an agent that does not exist, or a skill that is not assigned to it,
 *   `insufficient_scope` for tools of the agent that need other scopes
 */
export function unassignSkill(
  context: AgentContext & Pick<Context, 'clock'>,
  organization: Organization,
  name: string,
  skillId: string,
  scopes: readonly Scope[],
): Promise<void> {
  return retryOnConflict(context.table, async () => {
    const agent = await requireAgentHead(context, organization, name);
    try {
      authorizeTools(scopes, agent);
    } catch (error) {
      throw (await hasAgentSkill(context, organization, agent.id, skillId)) ? error : notFound('skill');
    }
    await removeAgentSkill(context, organization, agent, skillId, timestamp(context.clock()));
  });
}

/** The part of a context that the choice of a model needs. */
type ModelContext = Pick<Context, 'table' | 'defaultModel' | 'allowedModels'>;

/** Returns the default model of an organization. It takes a read, which most agents do not need. */
async function readDefaultModel(context: ModelContext, organization: Organization): Promise<string> {
  return (await readOrganizationSettings(context, organization)).defaultModel ?? context.defaultModel;
}

/** Returns the model of a request for an agent: the named model, or the default model. */
async function chooseModel(
  context: ModelContext,
  organization: Organization,
  named: string | undefined,
): Promise<string> {
  const { allowedModels } = context;
  const model = named ?? (await readDefaultModel(context, organization));
  if (!isAllowed(model, allowedModels)) throw modelNotAllowed(model, named !== undefined, allowedModels ?? []);
  return model;
}

/** Returns the result of an endpoint for an agent: its data and its version. */
export function versioned({ version, ...data }: StoredAgent): Versioned<Agent> {
  return { data, version };
}

/** Returns the error for a deletion whose executions are still in lists. `unavailable()` would deny the deletion. */
function executionsStillListed(name: string): ApiError {
  return new ApiError(
    'unavailable',
    `${name} is deleted, but the service is busy; its executions may stay in lists for some minutes.`,
    [],
    { 'Retry-After': '60' },
  );
}

/** Returns the error for a change of an agent whose running executions are not marked. `unavailable()` would deny the change. */
function executionsNotMarked(name: string): ApiError {
  return new ApiError(
    'unavailable',
    `${name} is changed, but the service is busy; its running executions may go on for 5 seconds.`,
    [],
    { 'Retry-After': '5' },
  );
}

function modelNotAllowed(model: string, isNamed: boolean, allowed: readonly string[]): ApiError {
  const choose = `choose ${allowed.length === 1 ? '' : 'one of '}${allowed.join(', ')}`;
  return new ApiError(
    'validation_failed',
    isNamed
      ? `This deployment does not allow the model ${model}; ${choose}.`
      : `This deployment does not allow the default model ${model}; send a model: ${choose}.`,
    [{ path: 'model', code: 'invalid_value', message: `model must be ${allowed.join(' or ')}` }],
  );
}

function reservedName(name: string): ApiError {
  return new ApiError('reserved_name', `The name ${name} is a path of the service; choose another name.`, [
    { path: 'name', code: 'invalid_value', message: `name must not be ${reservedNames.join(' or ')}` },
  ]);
}
