import {
  type Agent,
  type AgentFilter,
  type AgentListItem,
  type AgentPatch,
  type AssignedSkill,
  type NewAgent,
  reservedNames,
} from '../contract/agents.ts';
import type { Page, Precondition, Versioned } from '../contract/endpoint.ts';
import { timeOf, timestamp } from '../contract/ids.ts';
import { isAllowed } from '../contract/models.ts';
import type { Organization } from '../contract/organization.ts';
import { notFound, Refusal } from '../contract/refusals.ts';
import type { Skill } from '../contract/skills.ts';
import type { StoredAgent } from '../table/agent-items.ts';
import type { AgentStore } from '../table/agents.ts';
import { graceMs } from '../table/due.ts';
import type { Once } from '../table/idempotency.ts';
import type { PurgeStore } from '../table/purges.ts';
import type { Settings } from '../table/settings.ts';
import { untilFresh } from '../table/transact.ts';
import { matching, patched } from './decisions.ts';
import { newSystemAgents } from './system-agents.ts';

/** What agents are made of. */
export type AgentParts = {
  store: AgentStore;
  purges: Pick<PurgeStore, 'hide'>;
  settings: Pick<Settings, 'get'>;
  /** The model of agents that name none, in organizations that set none. */
  defaultModel: string;
  /** The models that agents may name; `undefined` where every model is allowed. */
  allowedModels?: readonly string[] | undefined;
  ulid: () => string;
  clock: () => number;
};

/** Agents: what callers can do with them. */
export function openAgents({ store, purges, settings, defaultModel, allowedModels, ulid, clock }: AgentParts) {
  const found = async (organization: Organization, name: string) => {
    const agent = await store.head(organization, name);
    if (!agent) throw notFound();
    return agent;
  };
  const foundWhole = async (organization: Organization, name: string): Promise<StoredAgent> => {
    const agent = await store.get(organization, name);
    if (!agent) throw notFound();
    return agent;
  };
  /** Read only where it is needed: most agents name their model. */
  const defaultModelOf = async (organization: Organization) =>
    (await settings.get(organization)).defaultModel ?? defaultModel;
  /** The model that a request gives an agent: the named one, or the default where none is named. */
  const chosenModel = async (organization: Organization, named: string | undefined): Promise<string> => {
    const model = named ?? (await defaultModelOf(organization));
    if (!isAllowed(model, allowedModels)) throw modelNotAllowed(model, named !== undefined, allowedModels ?? []);
    return model;
  };
  const versioned = ({ version, ...data }: StoredAgent): Versioned<Agent> => ({ data, version });

  return {
    /** A page of the agents, newest first, and the exact number of all that the filter matches. */
    async list(
      organization: Organization,
      filter: AgentFilter,
      { limit, offset }: { limit: number; offset: number },
    ): Promise<Page<AgentListItem>> {
      const agents = (await store.list(organization)).filter(matching(filter));
      return { items: agents.slice(offset, offset + limit), total: agents.length };
    },

    /**
     * Creates an agent. The default model is written into it, so that no later setting changes it.
     *
     * @throws `Refusal` `reserved_name`, `name_taken`, `validation_failed` for a model that is not allowed
     */
    async create(organization: Organization, { model, ...fields }: NewAgent, once: Once): Promise<Agent> {
      if (reservedNames.includes(fields.name)) throw reservedName(fields.name);
      const chosen = await chosenModel(organization, model);
      const id = ulid();
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
      await store.insert(organization, agent, once);
      return agent;
    },

    /** Gives an organization the agents that every one starts with, as far as it does not have them. */
    async provision(organization: Organization): Promise<void> {
      await store.provision(organization, newSystemAgents(ulid, await defaultModelOf(organization)));
    },

    /** @throws `Refusal` `not_found` */
    async get(organization: Organization, name: string): Promise<Versioned<Agent>> {
      return versioned(await foundWhole(organization, name));
    },

    /**
     * Changes what a patch names; equal values write nothing.
     *
     * @throws `Refusal` `not_found`, `precondition_failed`, `validation_failed` for a model that is not allowed
     */
    update(
      organization: Organization,
      name: string,
      patch: AgentPatch,
      ifMatch: Precondition,
    ): Promise<Versioned<Agent>> {
      return untilFresh(store.table, async () => {
        const before = await foundWhole(organization, name);
        ifMatch(before.version);
        const { model: named } = patch;
        const model = named === undefined ? undefined : await chosenModel(organization, named ?? undefined);
        const after = patched(before, { ...patch, model }, timestamp(clock()));
        if (after !== before) await store.change(organization, before, after);
        return versioned(after);
      });
    },

    /**
     * Gives an agent another model if it still has this one.
     *
     * @returns whether it did: not where the agent is gone, or has another model by now
     */
    moveModel(organization: Organization, name: string, { from, to }: { from: string; to: string }): Promise<boolean> {
      return untilFresh(store.table, async () => {
        const before = await store.get(organization, name);
        if (before?.model !== from) return false;
        await store.change(organization, before, patched(before, { model: to }, timestamp(clock())));
        return true;
      });
    },

    /**
     * Deletes an agent and its history for good: it is gone from every read with the answer, and purged behind it.
     *
     * @throws `Refusal` `not_found`, `precondition_failed`, `system_agent`; `unavailable` also where it is deleted, and
     *   what it ran is still to be taken out of the lists, which its purge does
     */
    async delete(organization: Organization, name: string, ifMatch: Precondition): Promise<void> {
      const agentId = await untilFresh(store.table, async () => {
        const agent = await found(organization, name);
        ifMatch(agent.version);
        if (agent.isSystem)
          throw new Refusal(
            'system_agent',
            `${name} is a system agent and cannot be deleted; set it inactive instead.`,
          );
        await store.remove(organization, agent, timestamp(clock() + graceMs));
        return agent.id;
      });
      await purges.hide({ organization, agentId }).catch((error: unknown) => {
        throw error instanceof Refusal ? halfHidden(name) : error;
      });
    },

    /**
     * The skills of an agent that the catalogue still has.
     *
     * @throws `Refusal` `not_found`
     */
    async skills(organization: Organization, name: string, catalogue: readonly Skill[]): Promise<AssignedSkill[]> {
      const { id } = await found(organization, name);
      const assigned = await store.skills(organization, id);
      return assigned.flatMap(({ id: skillId, assignedAt }) => {
        const skill = catalogue.find((one) => one.id === skillId);
        return skill ? [{ ...skill, assignedAt }] : [];
      });
    },

    /**
     * Gives an agent a skill of the catalogue; one that it has stays as it is.
     *
     * @throws `Refusal` `not_found` for an agent or a skill that there is not
     */
    async assign(
      organization: Organization,
      name: string,
      skillId: string,
      catalogue: readonly Skill[],
      once: Once,
    ): Promise<void> {
      const agent = await found(organization, name);
      if (!catalogue.some(({ id }) => id === skillId)) throw notFound();
      await store.assign(organization, agent, { id: skillId, assignedAt: timestamp(clock()) }, once);
    },

    /**
     * Takes a skill from an agent.
     *
     * @throws `Refusal` `not_found` for an agent that there is not, or that has no such skill
     */
    async unassign(organization: Organization, name: string, skillId: string): Promise<void> {
      await store.unassign(organization, await found(organization, name), skillId);
    },
  };
}

/** Not the common words of a busy service, which say that nothing was changed. */
function halfHidden(name: string): Refusal {
  return new Refusal(
    'unavailable',
    `${name} is deleted; its executions may be listed for some minutes more, for the service is busy.`,
    [],
    { 'Retry-After': '60' },
  );
}

function modelNotAllowed(model: string, isNamed: boolean, allowed: readonly string[]): Refusal {
  const choose = `choose ${allowed.length === 1 ? '' : 'one of '}${allowed.join(', ')}`;
  return new Refusal(
    'validation_failed',
    isNamed
      ? `This deployment does not allow the model ${model}; ${choose}.`
      : `The default model ${model} is not allowed in this deployment; name another: ${choose}.`,
    [{ path: 'model', code: 'invalid_value', message: `model must be ${allowed.join(' or ')}` }],
  );
}

function reservedName(name: string): Refusal {
  return new Refusal('reserved_name', `The name ${name} is a path of the service; choose another name.`, [
    { path: 'name', code: 'invalid_value', message: `name must not be ${reservedNames.join(' or ')}` },
  ]);
}
