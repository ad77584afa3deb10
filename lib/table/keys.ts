import type { Organization } from '../contract/organization.ts';

/** The primary key of an item. */
export type Key = { pk: string; sk: string };

/** A list of things: a partition of index rows and one of counters, see `listing.ts`. */
export type ListScope = {
  rows: string;
  counters: string;
  /** The partition of the things themselves, where it has them all in the order of their ids, and nothing else. */
  items?: string;
};

/** The one item of a partition that holds a single one. */
const only = '-';

/** The family of what counts lists. */
const counters = 'C';

/** A partition of an organization. Nothing that a user sends can contain `#`, so no name reaches another partition. */
const partition = (organization: Organization, ...parts: string[]) => ['O', organization, ...parts].join('#');

const scope = (organization: Organization, ...parts: string[]): ListScope => ({
  rows: partition(organization, ...parts),
  counters: partition(organization, counters, ...parts),
});

/** The organization that an item's partition belongs to. */
export function organizationOf(pk: string): Organization {
  return pk.split('#')[1] as Organization;
}

/** The ULID of the webhook that a partition of the attempt log belongs to. */
export function webhookOf(pk: string): string {
  return pk.split('#')[3] as string;
}

/**
 * The family of an organization's partition: what its items are, whoever they belong to. Counters are of the family of
 * counters of their lists.
 */
export function familyOf(pk: string): string {
  const [, , family = '', counted] = pk.split('#');
  return family === counters ? `${family}#${counted}` : family;
}

/**
 * Every key of the table (docs/architecture.md#keys). No other file spells one. Ids are given without their kind's
 * prefix: an `ulid` here is the 26 characters behind it.
 */
export const keys = {
  /** What every partition of an organization begins with. */
  organization: (organization: Organization) => partition(organization, ''),

  tasks: (organization: Organization) => partition(organization, 'T'),
  task: (organization: Organization, ulid: string): Key => ({ pk: partition(organization, 'T'), sk: ulid }),
  /** The lists of tasks: all of them, those of an agent, of a project, of both. */
  taskScope: (organization: Organization, filter: { agent?: string; project?: string }): ListScope => {
    if (filter.agent !== undefined && filter.project !== undefined)
      return scope(organization, 'TAP', filter.agent, filter.project);
    if (filter.agent !== undefined) return scope(organization, 'TA', filter.agent);
    if (filter.project !== undefined) return scope(organization, 'TP', filter.project);
    return { ...scope(organization, 'TX'), items: keys.tasks(organization) };
  },
  listRow: (list: ListScope, run: string, id: string): Key => ({ pk: list.rows, sk: `${run}#${id}` }),
  listCounter: (list: ListScope, period: string, shard: number): Key => ({
    pk: list.counters,
    sk: `${period}#${shard}`,
  }),
  /** The period of a list that a counter counts in, whatever its shard; `undefined` for any other item. */
  counted: ({ pk, sk }: Key): Key | undefined =>
    pk.split('#')[2] === counters ? { pk, sk: sk.slice(0, sk.lastIndexOf('#')) } : undefined,
  graphLock: (organization: Organization): Key => ({ pk: partition(organization, 'G'), sk: only }),

  agents: (organization: Organization) => partition(organization, 'A'),
  agent: (organization: Organization, name: string): Key => ({ pk: partition(organization, 'A'), sk: name }),
  /** The prompts and souls that an agent has and had, each under its hash. */
  agentTexts: (organization: Organization, agent: string) => partition(organization, 'AP', agent),
  agentText: (organization: Organization, agent: string, hash: string): Key => ({
    pk: partition(organization, 'AP', agent),
    sk: hash,
  }),
  /** Which prompt an agent has had since when; beside its texts, and in the order of time. */
  promptChange: (organization: Organization, agent: string, at: string, version: number): Key => ({
    pk: partition(organization, 'AP', agent),
    sk: `@${at}#${String(version).padStart(9, '0')}`,
  }),
  agentSkills: (organization: Organization, agent: string) => partition(organization, 'AS', agent),
  agentSkill: (organization: Organization, agent: string, skill: string): Key => ({
    pk: partition(organization, 'AS', agent),
    sk: skill,
  }),
  /** The partitions that belong to an agent alone, and go with it; those of its executions are named by its list. */
  agentPartitions: (organization: Organization, agent: string): string[] => [
    keys.agentTexts(organization, agent),
    keys.agentSkills(organization, agent),
    keys.executionScope(organization, agent).rows,
    keys.executionScope(organization, agent).counters,
    keys.metrics(organization, agent),
    keys.improvement(organization, agent).pk,
  ],
  /** What is left to be purged of an agent that was deleted. */
  purge: (organization: Organization, agent: string): Key => ({ pk: partition(organization, 'PU'), sk: agent }),
  /** Which dependents still name a task that was deleted. */
  taskPurge: (organization: Organization, task: string): Key => ({ pk: partition(organization, 'PT'), sk: task }),

  /** An execution: its head, its input, and its output in parts. */
  execution: (organization: Organization, execution: string) => partition(organization, 'X', execution),
  executionHead: (organization: Organization, execution: string): Key => ({
    pk: partition(organization, 'X', execution),
    sk: 'M',
  }),
  executionInput: (organization: Organization, execution: string): Key => ({
    pk: partition(organization, 'X', execution),
    sk: 'IN',
  }),
  executionOutput: (organization: Organization, execution: string, part: number): Key => ({
    pk: partition(organization, 'X', execution),
    sk: `OUT#${part}`,
  }),
  /** The lists of executions: all of them, and those of an agent. */
  executionScope: (organization: Organization, agent?: string): ListScope =>
    agent === undefined ? scope(organization, 'XL') : scope(organization, 'XA', agent),
  /** Who has handed what on to whom. */
  delegation: (organization: Organization, delegation: string): Key => ({
    pk: partition(organization, 'D'),
    sk: delegation,
  }),
  /** The pass of self-improvement that an agent is in. */
  improvement: (organization: Organization, agent: string): Key => ({
    pk: partition(organization, 'AI', agent),
    sk: only,
  }),
  /** How many executions of the organization run. */
  running: (organization: Organization): Key => ({ pk: partition(organization, 'RUN'), sk: only }),
  /** The finished executions of an agent in numbers, an item for each UTC day on which any was started. */
  metrics: (organization: Organization, agent: string) => partition(organization, 'M', agent),
  metricsOfDay: (organization: Organization, agent: string, date: string): Key => ({
    pk: partition(organization, 'M', agent),
    sk: date,
  }),

  webhooks: (organization: Organization) => partition(organization, 'W'),
  webhook: (organization: Organization, ulid: string): Key => ({ pk: partition(organization, 'W'), sk: ulid }),
  webhookSecret: (organization: Organization, ulid: string): Key => ({ pk: partition(organization, 'WS'), sk: ulid }),
  webhookCount: (organization: Organization): Key => ({ pk: partition(organization, 'WN'), sk: only }),
  subscriptions: (organization: Organization, event: string) => partition(organization, 'S', event),
  subscription: (organization: Organization, event: string, webhook: string): Key => ({
    pk: partition(organization, 'S', event),
    sk: webhook,
  }),
  /** The event log of an organization. */
  events: (organization: Organization) => partition(organization, 'E'),
  event: (organization: Organization, ulid: string): Key => ({ pk: partition(organization, 'E'), sk: ulid }),
  /** The attempt log of a webhook. */
  attemptScope: (organization: Organization, webhook: string): ListScope => scope(organization, 'WD', webhook),
  /** When an attempt that was late was begun; beside the log. */
  lateAttempt: (organization: Organization, webhook: string, delivery: string, attempt: number): Key => ({
    pk: partition(organization, 'WD', webhook),
    sk: `L#${delivery}#${attempt}`,
  }),
  /** How many attempts a webhook had on each day, up to a moment; among the counters of its log. */
  closedAttempts: (organization: Organization, webhook: string): Key => ({
    pk: scope(organization, 'WD', webhook).counters,
    sk: 'closed',
  }),
  /** A delivery as versions before the attempt log kept it; beside that log. */
  oldDelivery: (organization: Organization, webhook: string, delivery: string): Key => ({
    pk: partition(organization, 'WD', webhook),
    sk: `D#${delivery}`,
  }),

  idempotency: (organization: Organization, hash: string): Key => ({
    pk: partition(organization, 'I', hash),
    sk: only,
  }),
  /** The token bucket of the organization's requests, see `request-bucket.ts`. */
  requestBucket: (organization: Organization): Key => ({ pk: partition(organization, 'RL'), sk: only }),
  /** What an operator has set of the organization. */
  settings: (organization: Organization): Key => ({ pk: partition(organization, 'SET'), sk: only }),
  tokens: (organization: Organization) => partition(organization, 'TOK'),
  organizationToken: (organization: Organization, id: string): Key => ({ pk: partition(organization, 'TOK'), sk: id }),
  /** Of the deployment, not of an organization. */
  heartbeat: (): Key => ({ pk: 'HEARTBEAT', sk: only }),
  /** A token is looked up before its organization is known, so its key alone has none. */
  token: (id: string): Key => ({ pk: `TOK#${id}`, sk: only }),
};
