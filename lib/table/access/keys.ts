import type { Organization } from '../../contract/organization.ts';

/** The primary key of an item. */
export type Key = { pk: string; sk: string };

/** The partitions of a list: one of rows and one of counters, see `listing.ts`. */
export type ListScope = {
  rows: string;
  counters: string;
  /** The partition of the listed items, if it has all of them in the order of the list and nothing else. */
  items?: string;
};

/** The sort key of the only item of a partition. */
const only = '-';

/** The partition of an item that is always absent; see `keys.check`. */
const checkPartition = 'CHECK';

/** The family of the counters of lists. */
const counters = 'C';

/**
 * Returns a partition of an organization. No name or id of a caller can contain `#`: none leads to another partition.
 */
const partition = (organization: Organization, ...parts: string[]) => ['O', organization, ...parts].join('#');

const scope = (organization: Organization, ...parts: string[]): ListScope => ({
  rows: partition(organization, ...parts),
  counters: partition(organization, counters, ...parts),
});

/** Returns the organization of a partition. */
export function organizationOf(pk: string): Organization {
  return pk.split('#')[1] as Organization;
}

/** Returns the ULID of the webhook of a partition of the attempt log, or of parked attempts. */
export function webhookOf(pk: string): string {
  return pk.split('#')[3] as string;
}

/**
 * Returns the family of a partition: the kind of its items, which is the same in all organizations. The counters of
 * each kind of list are a family of their own.
 */
export function familyOf(pk: string): string {
  const [, , family = '', listFamily] = pk.split('#');
  return family === counters ? `${family}#${listFamily}` : family;
}

/**
 * Returns all keys of the table (docs/architecture.md#keys). No other file spells a key. Ids have no prefix here: a
 * `ulid` is the 26 characters after it.
 */
export const keys = {
  /** The prefix of all partitions of an organization. */
  organization: (organization: Organization) => partition(organization, ''),

  /** An item that no version writes. Reading it checks the access to the table. */
  check: (): Key => ({ pk: checkPartition, sk: only }),

  tasks: (organization: Organization) => partition(organization, 'T'),
  task: (organization: Organization, ulid: string): Key => ({ pk: partition(organization, 'T'), sk: ulid }),
  /** What remains of a deleted task; see `deleted-tasks.ts`. */
  deletedTask: (organization: Organization, ulid: string): Key => ({ pk: partition(organization, 'TD'), sk: ulid }),
  /** The comments of a task: their number, and after it the comments by age. */
  comments: (organization: Organization, task: string) => ({
    pk: partition(organization, 'TC', task),
    from: '0',
    to: '8',
  }),
  comment: (organization: Organization, task: string, ulid: string): Key => ({
    pk: partition(organization, 'TC', task),
    sk: ulid,
  }),
  commentCount: (organization: Organization, task: string): Key => ({
    pk: partition(organization, 'TC', task),
    sk: only,
  }),
  /** The history of a task. Its entries sort by time. */
  taskHistory: (organization: Organization, task: string) => partition(organization, 'HT', task),
  /** The history of an agent, likewise. */
  agentHistory: (organization: Organization, agent: string) => partition(organization, 'HA', agent),
  /** The list of all tasks, of an agent's tasks, of a project's tasks, or of an agent's tasks in a project. */
  taskScope: (organization: Organization, filter: { agent?: string; project?: string }): ListScope => {
    if (filter.agent !== undefined && filter.project !== undefined)
      return scope(organization, 'TAP', filter.agent, filter.project);
    if (filter.agent !== undefined) return scope(organization, 'TA', filter.agent);
    if (filter.project !== undefined) return scope(organization, 'TP', filter.project);
    return { ...scope(organization, 'TX'), items: keys.tasks(organization) };
  },
  /** The entries of the search of tasks; see `search-entries.ts`. */
  searchEntries: (organization: Organization) => partition(organization, 'TS'),
  searchEntry: (organization: Organization, task: string): Key => ({ pk: partition(organization, 'TS'), sk: task }),
  listRow: (list: ListScope, facet: string, id: string): Key => ({ pk: list.rows, sk: `${facet}#${id}` }),
  listCounter: (list: ListScope, period: string, shard: number): Key => ({
    pk: list.counters,
    sk: `${period}#${shard}`,
  }),
  /** The key of a counter without its shard, which names a period of a list; `undefined` for any other item. */
  counterPeriod: ({ pk, sk }: Key): Key | undefined =>
    pk.split('#')[2] === counters ? { pk, sk: sk.slice(0, sk.lastIndexOf('#')) } : undefined,
  graphLock: (organization: Organization): Key => ({ pk: partition(organization, 'G'), sk: only }),

  agents: (organization: Organization) => partition(organization, 'A'),
  agent: (organization: Organization, name: string): Key => ({ pk: partition(organization, 'A'), sk: name }),
  /** The current and former prompts and souls of an agent, by hash, and the changes of its prompt. */
  agentTexts: (organization: Organization, agent: string) => partition(organization, 'AP', agent),
  agentText: (organization: Organization, agent: string, hash: string): Key => ({
    pk: partition(organization, 'AP', agent),
    sk: hash,
  }),
  /** A change of an agent's prompt, in the partition of its texts. Changes sort by time. */
  promptChange: (organization: Organization, agent: string, at: string, version: number): Key => ({
    pk: partition(organization, 'AP', agent),
    sk: `@${at}#${String(version).padStart(9, '0')}`,
  }),
  agentSkills: (organization: Organization, agent: string) => partition(organization, 'AS', agent),
  agentSkill: (organization: Organization, agent: string, skill: string): Key => ({
    pk: partition(organization, 'AS', agent),
    sk: skill,
  }),
  /** The partitions that are deleted with an agent. The partitions of its executions are found by its list. */
  agentPartitions: (organization: Organization, agent: string): string[] => [
    keys.agentTexts(organization, agent),
    keys.agentSkills(organization, agent),
    keys.executionScope(organization, agent).rows,
    keys.executionScope(organization, agent).counters,
    keys.metrics(organization, agent),
    keys.improvement(organization, agent).pk,
    keys.agentHistory(organization, agent),
  ],
  /** The purge of a deleted agent. */
  purge: (organization: Organization, agent: string): Key => ({ pk: partition(organization, 'PU'), sk: agent }),
  /** The purge of a deleted task, which removes it from its dependents. */
  taskPurge: (organization: Organization, task: string): Key => ({ pk: partition(organization, 'PT'), sk: task }),

  /** The partition of an execution: its head, its input, the parts of its output, what models received, and its steps. */
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
  /** What a worker of an execution gave to models. */
  executionReceived: (organization: Organization, execution: string, number: number): Key => ({
    pk: partition(organization, 'X', execution),
    sk: `RC#${String(number).padStart(5, '0')}`,
  }),
  /** A step of an execution. The steps sort by number, after all other items of the partition. */
  executionStep: (organization: Organization, execution: string, step: number): Key => ({
    pk: partition(organization, 'X', execution),
    sk: `ST#${String(step).padStart(5, '0')}`,
  }),
  /** The list of all executions, or of an agent's executions. */
  executionScope: (organization: Organization, agent?: string): ListScope =>
    agent === undefined ? scope(organization, 'XL') : scope(organization, 'XA', agent),
  delegation: (organization: Organization, delegation: string): Key => ({
    pk: partition(organization, 'D'),
    sk: delegation,
  }),
  /** When the service looks whether an agent starts by itself. */
  agentWake: (organization: Organization, agent: string): Key => ({ pk: partition(organization, 'AW'), sk: agent }),
  /** The running self-improvement of an agent, in the partition of its passes. */
  improvement: (organization: Organization, agent: string): Key => ({
    pk: partition(organization, 'AI', agent),
    sk: only,
  }),
  /** The passes of self-improvement of an agent. */
  improvementPasses: (organization: Organization, agent: string) => ({
    pk: partition(organization, 'AI', agent),
    from: '0',
    to: '8',
  }),
  improvementPass: (organization: Organization, agent: string, pass: string): Key => ({
    pk: partition(organization, 'AI', agent),
    sk: pass,
  }),
  /** The proposal and the votes of a pass. They are an item of their own, so that the passes can be counted without them. */
  improvementProof: (organization: Organization, agent: string, pass: string): Key => ({
    pk: partition(organization, 'AI', agent),
    sk: `P#${pass}`,
  }),
  /** The number of running executions of the organization. */
  running: (organization: Organization): Key => ({ pk: partition(organization, 'RUN'), sk: only }),
  /**
   * The metrics of the finished executions of the organization, one item for each UTC day of their starts, or of an agent,
   * one item for each day and each prompt. The item of executions without a known prompt has the date alone.
   */
  metrics: (organization: Organization, agent?: string) =>
    agent === undefined ? partition(organization, 'M') : partition(organization, 'M', agent),
  metricsOfDay: (organization: Organization, date: string, agent?: string, promptHash?: string): Key => ({
    pk: keys.metrics(organization, agent),
    sk: promptHash === undefined ? date : `${date}#${promptHash}`,
  }),

  webhooks: (organization: Organization) => partition(organization, 'W'),
  webhook: (organization: Organization, ulid: string): Key => ({ pk: partition(organization, 'W'), sk: ulid }),
  webhookSecret: (organization: Organization, ulid: string): Key => ({ pk: partition(organization, 'WS'), sk: ulid }),
  /** The latest event about a webhook; see `own-events.ts`. */
  ownEvent: (organization: Organization, ulid: string): Key => ({ pk: partition(organization, 'WV'), sk: ulid }),
  webhookCount: (organization: Organization): Key => ({ pk: partition(organization, 'WN'), sk: only }),
  subscriptions: (organization: Organization, event: string) => partition(organization, 'S', event),
  subscription: (organization: Organization, event: string, webhook: string): Key => ({
    pk: partition(organization, 'S', event),
    sk: webhook,
  }),
  /** The event log of an organization. */
  events: (organization: Organization) => partition(organization, 'E'),
  event: (organization: Organization, ulid: string): Key => ({ pk: partition(organization, 'E'), sk: ulid }),
  /** Late events, in the partition of the event log; see `late-events.ts`. They sort after all events. */
  lateEvents: (organization: Organization, position: string): Key => ({
    pk: partition(organization, 'E'),
    sk: `L#${position}`,
  }),
  /** The check of a part of the event log, which begins at a time (the letters of a ULID). */
  eventCheck: (organization: Organization, start: string): Key => ({ pk: partition(organization, 'EC'), sk: start }),
  /** The attempt log of a webhook. */
  attemptScope: (organization: Organization, webhook: string): ListScope => scope(organization, 'WD', webhook),
  /** The start of a late attempt, in the partition of the attempt log. */
  lateAttempt: (organization: Organization, webhook: string, delivery: string, attempt: number): Key => ({
    pk: partition(organization, 'WD', webhook),
    sk: `L#${delivery}#${attempt}`,
  }),
  /** A redelivery, in the partition of the attempt log. The redeliveries of a delivery sort by the number of the attempt. */
  redelivery: (organization: Organization, webhook: string, delivery: string, attempt: number): Key => ({
    pk: partition(organization, 'WD', webhook),
    sk: `R#${delivery}#${String(attempt).padStart(6, '0')}`,
  }),
  /** The response to an attempt. It has a partition of its own, so that the attempt log keeps its write capacity. */
  response: (organization: Organization, webhook: string, attempt: string): Key => ({
    pk: partition(organization, 'WB', webhook),
    sk: attempt,
  }),
  /** The sort keys of parked attempts. */
  parkedPrefix: 'P#',
  /**
   * A parked attempt, in a part of the parked attempts of its webhook, so that the attempt log keeps its write capacity. Without
   * a part, in the partition of the attempt log, as version 0.2.0 has it.
   */
  parkedAttempt: (
    organization: Organization,
    webhook: string,
    { part, delivery, attempt }: { part?: string | undefined; delivery: string; attempt: number },
  ): Key => ({
    pk: keys.parkedAttempts(organization, webhook, part).pk,
    sk: `${keys.parkedPrefix}${delivery}#${String(attempt).padStart(6, '0')}`,
  }),
  /** The range of a part of the parked attempts of a webhook; without a part, of those in the attempt log. */
  parkedAttempts: (organization: Organization, webhook: string, part?: string) => ({
    pk: part === undefined ? partition(organization, 'WD', webhook) : partition(organization, 'WP', webhook, part),
    from: keys.parkedPrefix,
    to: `${keys.parkedPrefix}~`,
  }),
  /** The order to send the parked attempts of a webhook. */
  parkedRelease: (organization: Organization, webhook: string): Key => ({
    pk: partition(organization, 'WP'),
    sk: webhook,
  }),
  /** The recoveries of a webhook. */
  recoveries: (organization: Organization, webhook: string) => ({
    pk: partition(organization, 'WR', webhook),
    from: '0',
    to: '8',
  }),
  recovery: (organization: Organization, webhook: string, recovery: string): Key => ({
    pk: partition(organization, 'WR', webhook),
    sk: recovery,
  }),
  /** The recovery that the service is to begin, in the partition of the recoveries. It sorts after them. */
  autoRecovery: (organization: Organization, webhook: string): Key => ({
    pk: partition(organization, 'WR', webhook),
    sk: 'auto',
  }),
  /** The lock of a webhook's running recovery, in the partition of its recoveries. */
  recoveryLock: (organization: Organization, webhook: string): Key => ({
    pk: partition(organization, 'WR', webhook),
    sk: only,
  }),
  /** The numbers of a webhook's attempts by day and hour up to a time, in the partition of the counters of its log. */
  closedAttempts: (organization: Organization, webhook: string): Key => ({
    pk: scope(organization, 'WD', webhook).counters,
    sk: 'closed',
  }),
  /** A delivery that a version without the attempt log wrote, in the partition of that log. */
  oldDelivery: (organization: Organization, webhook: string, delivery: string): Key => ({
    pk: partition(organization, 'WD', webhook),
    sk: `D#${delivery}`,
  }),

  idempotency: (organization: Organization, hash: string): Key => ({
    pk: partition(organization, 'I', hash),
    sk: only,
  }),
  /** A further part of a recorded response that is too large for the record, from 1. */
  idempotencyPart: (organization: Organization, hash: string, part: number): Key => ({
    pk: partition(organization, 'I', hash),
    sk: `P#${part}`,
  }),
  /** The token bucket of the organization's requests, see `request-bucket.ts`. */
  requestBucket: (organization: Organization): Key => ({ pk: partition(organization, 'RL'), sk: only }),
  /** The token bucket of those requests that call receivers or models. */
  callsOutBucket: (organization: Organization): Key => ({ pk: partition(organization, 'RL'), sk: 'calls-out' }),
  /** The last use of an access token. Every function may write this partition, and none the token itself. */
  tokenUse: (organization: Organization, id: string): Key => ({ pk: partition(organization, 'RL'), sk: id }),
  tokenUses: (organization: Organization) => partition(organization, 'RL'),
  /** The settings of the organization, which operators change. */
  settings: (organization: Organization): Key => ({ pk: partition(organization, 'SET'), sk: only }),
  tokens: (organization: Organization) => partition(organization, 'TOK'),
  organizationToken: (organization: Organization, id: string): Key => ({ pk: partition(organization, 'TOK'), sk: id }),
  /** The heartbeat of the deployment. It belongs to no organization. */
  heartbeat: (): Key => ({ pk: 'HEARTBEAT', sk: only }),
  /** The steps of the clock of a process that owns its logs, see `log-clock.ts`. They belong to no organization. */
  logClock: (): Key => ({ pk: 'LOGCLOCK', sk: only }),
  /** An access token. It is read before its organization is known, so its key has no organization. */
  token: (id: string): Key => ({ pk: `TOK#${id}`, sk: only }),
};
