// Made from the contract by `npm run generate`: change the contract, not this file.

export type NewTask = {
  /** What is to be done, in a line. */
  title: string;
  /** Detail or acceptance criteria; the quality gates judge by it. */
  description?: string;
  status?: TaskStatus;
  priority?: TaskPriority;
  /** Name of the agent that the task is for. */
  assignedAgent?: string;
  /** Id of a project, as its owner chose it: there is no project resource. */
  projectId?: string;
  /** Ids of the tasks that must be done first. */
  dependsOn?: string[];
};

export type TaskPatch = {
  /** What is to be done, in a line. */
  title?: string;
  /** Detail or acceptance criteria; the quality gates judge by it. */
  description?: string | null;
  status?: TaskStatus;
  priority?: TaskPriority;
  /** Name of the agent that the task is for. */
  assignedAgent?: string | null;
  /** Id of a project, as its owner chose it: there is no project resource. */
  projectId?: string | null;
  /** Ids of the tasks that must be done first. */
  dependsOn?: string[];
};

export type NewAgent = {
  /** Unique kebab-case identifier of an agent, used in paths. */
  name: string;
  /** Name for people. */
  displayName: string;
  /** What the agent is for. */
  description?: string;
  category: AgentCategory;
  /** Id of the LLM, as Amazon Bedrock knows it; the organization's default if unset. A deployment may allow only some models. */
  model?: string;
  /** What the agent is to do, and how. Self-improvement rewrites it. */
  systemPrompt?: string;
  /** Who the agent is: values, communication style, constraints. Nothing but a caller changes it. */
  soul?: string;
  /** Identifiers of what the agent can do. */
  capabilities?: string[];
  /** Only an active agent is executed or delegated to. */
  status?: 'active' | 'inactive' | 'draft';
};

export type AgentPatch = {
  /** Name for people. */
  displayName?: string;
  /** What the agent is for. */
  description?: string | null;
  category?: AgentCategory;
  /** Id of the LLM, as Amazon Bedrock knows it; the organization's default if unset. A deployment may allow only some models. */
  model?: string | null;
  /** What the agent is to do, and how. Self-improvement rewrites it. */
  systemPrompt?: string | null;
  /** Who the agent is: values, communication style, constraints. Nothing but a caller changes it. */
  soul?: string | null;
  /** Identifiers of what the agent can do. */
  capabilities?: string[];
  /** Only an active agent is executed or delegated to. */
  status?: 'active' | 'inactive' | 'draft';
};

export type SoulUpdate = {
  /** Who the agent is: values, communication style, constraints. Nothing but a caller changes it. */
  soul: string;
};

export type SkillAssignment = {
  /** Id of a skill of the catalogue. */
  skillId: string;
};

export type NewExecution = {
  /** What the agent is to do. */
  input: string;
  /** The task that it works on, and that its end moves. */
  taskId?: string;
  /** Key-values that the agent is given beside its input: at most 65,536 bytes as JSON, nested at most 32 deep. */
  context?: Record<string, unknown>;
};

export type NewDelegation = {
  /** Name of the agent that is to do it. */
  toAgent: string;
  /** The task that it is about. */
  taskId?: string;
  /** The other agent's input, verbatim. */
  instruction: string;
  /** Key-values that the agent is given beside its input: at most 65,536 bytes as JSON, nested at most 32 deep. */
  context?: Record<string, unknown>;
};

export type NewImprovement = {
  /** How many of the newest executions to look at. */
  lookbackExecutions?: number;
  /** What to look for in them. */
  focusArea?: string;
};

export type NewWebhook = {
  /** Where deliveries go: https, port 443 or 8443, a public address, no credentials. */
  url: string;
  events: EventName[];
  /** Shared secret that deliveries are signed with; without one they are not signed. Never shown. */
  secret?: string;
};

export type TestEvent = {
  /** Any of the six, whether the webhook hears it or not. */
  event: 'task.created' | 'task.completed' | 'task.status_changed' | 'agent.spawned' | 'agent.completed' | 'agent.failed';
};

export type TaskStatus = 'backlog' | 'assigned' | 'in_progress' | 'qa_review' | 'up_for_review' | 'done';

export type TaskPriority = 'low' | 'medium' | 'high' | 'critical';

export type Task = {
  /** Id of a task. */
  id: string;
  title: string;
  description?: string;
  status: TaskStatus;
  priority: TaskPriority;
  /** Name of the agent that the task is for; it stays when the agent is deleted. */
  assignedAgent?: string;
  projectId?: string;
  /** Ids of the tasks that must be done first. */
  dependsOn: string[];
  createdAt: string;
  /** When a field of it last changed. */
  updatedAt: string;
};

export type TaskCreated = {
  /** Id of a task. */
  id: string;
  title: string;
  status: TaskStatus;
  priority: TaskPriority;
  createdAt: string;
};

export type TaskReference = {
  /** Id of a task. */
  id: string;
  title: string;
  status: TaskStatus;
};

export type TaskDetail = {
  /** Id of a task. */
  id: string;
  title: string;
  description?: string;
  status: TaskStatus;
  priority: TaskPriority;
  /** Name of the agent that the task is for; it stays when the agent is deleted. */
  assignedAgent?: string;
  projectId?: string;
  /** The tasks that must be done first. */
  dependsOn: TaskReference[];
  createdAt: string;
  /** When a field of it last changed. */
  updatedAt: string;
  /** Those of them that are not done yet. */
  blockedBy: TaskReference[];
};

export type AgentCategory = 'business' | 'development' | 'qa' | 'research' | 'operations' | 'specialized';

export type AgentStatus = 'active' | 'inactive' | 'draft';

export type Agent = {
  /** Id of an agent. */
  id: string;
  /** Unique kebab-case identifier of an agent, used in paths. */
  name: string;
  displayName: string;
  description?: string;
  category: AgentCategory;
  model: string;
  systemPrompt: string;
  soul: string;
  capabilities: string[];
  status: AgentStatus;
  /** Whether it came with the organization; such an agent cannot be deleted. */
  isSystem: boolean;
  createdAt: string;
  updatedAt: string;
};

export type AgentListItem = {
  /** Id of an agent. */
  id: string;
  /** Unique kebab-case identifier of an agent, used in paths. */
  name: string;
  displayName: string;
  description?: string;
  category: AgentCategory;
  model: string;
  status: AgentStatus;
  capabilities: string[];
  createdAt: string;
};

export type AgentCreated = {
  /** Id of an agent. */
  id: string;
  /** Unique kebab-case identifier of an agent, used in paths. */
  name: string;
  displayName: string;
  createdAt: string;
};

export type Skill = {
  /** Id of a skill of the catalogue. */
  id: string;
  name: string;
  /** What an agent that has it can do, and when it does. */
  description: string;
};

export type AssignedSkill = {
  /** Id of a skill of the catalogue. */
  id: string;
  name: string;
  /** What an agent that has it can do, and when it does. */
  description: string;
  assignedAt: string;
};

export type ExecutionStatus = 'running' | 'completed' | 'failed';

export type QualityGates = {
  /** What the agent's own model says of its output. */
  selfTest: 'pending' | 'passed' | 'failed' | 'skipped';
  /** What the organization's qa-reviewer says of it. */
  qaReview: 'pending' | 'passed' | 'failed' | 'skipped';
};

export type Execution = {
  /** Id of an execution. */
  id: string;
  /** Unique kebab-case identifier of an agent, used in paths. */
  agentName: string;
  /** Id of a task. */
  taskId?: string;
  status: ExecutionStatus;
  startedAt: string;
  /** When it ended; absent while it runs. */
  completedAt?: string;
  /** Milliseconds from startedAt to completedAt, quality gates included. */
  durationMs?: number;
  input: string;
  /** The generated text; only of a completed one. */
  output?: string;
  /** Tokens of all calls to models, quality gates included. */
  tokensUsed?: number;
  model: string;
  qualityGates: QualityGates;
  /** Why it failed; only of a failed one. `not_started`: no worker was free within the waiting limit. `deadline`: ten minutes have passed since a worker first took it. `lost`: two workers were lost. Otherwise a sentence. */
  error?: string;
  /** The delegation that it was started by. */
  delegationId?: string;
};

export type ExecutionListItem = {
  /** Id of an execution. */
  id: string;
  /** Unique kebab-case identifier of an agent, used in paths. */
  agentName: string;
  /** Id of a task. */
  taskId?: string;
  status: ExecutionStatus;
  startedAt: string;
  /** When it ended; absent while it runs. */
  completedAt?: string;
  /** Milliseconds from startedAt to completedAt, quality gates included. */
  durationMs?: number;
};

export type ExecutionStarted = {
  /** Id of an execution. */
  executionId: string;
  /** Unique kebab-case identifier of an agent, used in paths. */
  agentName: string;
  status: ExecutionStatus;
  startedAt: string;
};

export type DelegationStatus = 'accepted' | 'running' | 'completed' | 'failed';

export type Delegation = {
  /** Id of a delegation. */
  delegationId: string;
  /** Unique kebab-case identifier of an agent, used in paths. */
  fromAgent: string;
  /** Unique kebab-case identifier of an agent, used in paths. */
  toAgent: string;
  status: DelegationStatus;
};

export type Period = '7d' | '30d' | '90d';

export type AgentMetrics = {
  /** Unique kebab-case identifier of an agent, used in paths. */
  agentName: string;
  period: Period;
  executions: {
    total: number;
    completed: number;
    failed: number;
    running: number;
    /** completed / (completed + failed), to four decimals; 0 if none has ended. */
    successRate: number;
  };
  /** Milliseconds of those that have ended; percentiles are exact up to 1,000 of them, above that within 5 %. */
  performance: {
    avgDurationMs: number;
    p50DurationMs: number;
    p95DurationMs: number;
  };
  tokens: {
    total: number;
    avgPerExecution: number;
  };
};

export type Improvement = {
  /** Whether the system prompt was changed. */
  improved: boolean;
  /** What was changed, or why nothing was. */
  changesSummary: string;
  /** Of the system prompt before. */
  previousPromptHash: string;
  /** Of the system prompt after; the same where it stayed. */
  newPromptHash: string;
};

export type EventName = 'task.created' | 'task.completed' | 'task.status_changed' | 'agent.spawned' | 'agent.completed' | 'agent.failed';

export type Webhook = {
  /** Id of a webhook. */
  id: string;
  url: string;
  events: EventName[];
  active: boolean;
  /** End of the newest attempt of the last 90 days, whatever came of it. */
  lastDeliveryAt?: string;
  createdAt: string;
};

export type WebhookRegistered = {
  /** Id of a webhook. */
  id: string;
  url: string;
  events: EventName[];
  active: boolean;
  createdAt: string;
};

export type DeliveryRecord = {
  /** Of this attempt; the first one's equals deliveryId. */
  id: string;
  /** Of the delivery, as X-Service-Delivery has it: the same for all its attempts. */
  deliveryId: string;
  /** Which attempt it was, from 1. */
  attempt: number;
  event: EventName;
  /** The receiver's status; 0 when no answer came. */
  httpStatus: number;
  durationMs: number;
  /** The end of the attempt. */
  deliveredAt: string;
  /** Whether it was a retry. */
  redelivery: boolean;
  /** Why the attempt failed; absent where it did not. */
  error?: string;
};

export type TestResult = {
  /** Id of a delivery, or of an attempt. */
  deliveryId: string;
  /** The receiver's status; 0 when no answer came. */
  httpStatus: number;
  /** The first 16 KiB of the receiver's answer; empty when none came. */
  responseBody: string;
  durationMs: number;
  /** Why the attempt failed; absent where it did not. */
  error?: string;
};

export type TaskEventData = {
  task: {
    /** Id of a task. */
    id: string;
    title: string;
    previousStatus?: TaskStatus;
    status: TaskStatus;
    assignedAgent?: string;
    projectId?: string;
  };
  occurredAt: string;
};

export type ExecutionEventData = {
  execution: {
    /** Id of an execution. */
    id: string;
    /** Unique kebab-case identifier of an agent, used in paths. */
    agentName: string;
    /** Id of a task. */
    taskId?: string;
    status: ExecutionStatus;
    startedAt: string;
    /** When it ended; absent while it runs. */
    completedAt?: string;
    /** Milliseconds from startedAt to completedAt, quality gates included. */
    durationMs?: number;
    tokensUsed?: number;
    error?: string;
  };
  occurredAt: string;
};

export type Pagination = {
  /** The page size that was applied. It is smaller than the requested limit if that number of items does not fit into one response of 6 MB; the next page is at offset + limit. */
  limit: number;
  /** How many were skipped. */
  offset: number;
  /** How many the filters match, exactly, whatever the page. */
  total: number;
};

/** The closed list of codes. */
export type ErrorCode = 'invalid_json' | 'validation_failed' | 'unauthorized' | 'insufficient_scope' | 'system_agent' | 'not_found' | 'method_not_allowed' | 'name_taken' | 'has_dependents' | 'dependency_cycle' | 'agent_not_active' | 'task_blocked' | 'delegation_cycle' | 'delegation_too_deep' | 'improvement_in_progress' | 'request_in_progress' | 'limit_reached' | 'precondition_failed' | 'payload_too_large' | 'unsupported_media_type' | 'unknown_reference' | 'reserved_name' | 'url_not_allowed' | 'self_delegation' | 'idempotency_key_reused' | 'rate_limited' | 'internal_error' | 'unavailable';

export type ErrorDetail = {
  /** A field as `dependsOn.0`, a query parameter or a header by its name. */
  path: string;
  code: 'required' | 'unknown_field' | 'read_only' | 'invalid_type' | 'invalid_value' | 'not_found' | 'blocking' | 'cycle' | 'limit';
  message: string;
};

export type ErrorResponse = {
  success: false;
  error: {
    code: ErrorCode;
    /** What is wrong, and what to do, for people. */
    message: string;
    /** The X-Request-Id of the answer. */
    requestId: string;
    /** Each fault, 20 at most. */
    details?: ErrorDetail[];
  };
};

/** The bodies that receivers get, by event. */
export type Deliveries = {
  /** A task is put on the board. */
  'task.created': {
    event: 'task.created';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** When this attempt was made. */
    timestamp: string;
    data: TaskEventData;
  };
  /** A task reaches `done`. */
  'task.completed': {
    event: 'task.completed';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** When this attempt was made. */
    timestamp: string;
    data: TaskEventData;
  };
  /** A task moves to another status, by a caller or by an execution. */
  'task.status_changed': {
    event: 'task.status_changed';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** When this attempt was made. */
    timestamp: string;
    data: TaskEventData;
  };
  /** An execution starts. */
  'agent.spawned': {
    event: 'agent.spawned';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** When this attempt was made. */
    timestamp: string;
    data: ExecutionEventData;
  };
  /** An execution ends with an output. */
  'agent.completed': {
    event: 'agent.completed';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** When this attempt was made. */
    timestamp: string;
    data: ExecutionEventData;
  };
  /** An execution ends in an error. */
  'agent.failed': {
    event: 'agent.failed';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** When this attempt was made. */
    timestamp: string;
    data: ExecutionEventData;
  };
};

/** What each operation takes and answers. */
export type Operations = {
  /**
   * List the tasks of the board, newest first.
   *
   * The filters hold together: a task is listed that matches all of them. A write that was answered is always seen, and `pagination.total` is exact at any size. A well-formed filter that nothing matches gives an empty page.
   *
   * Needs the scope `tasks:read`.
   */
  listTasks: {
    request: {
      query?: {
        /** Only tasks of this status. */
        status?: 'backlog' | 'assigned' | 'in_progress' | 'qa_review' | 'up_for_review' | 'done';
        /** Only tasks of this priority. */
        priority?: 'low' | 'medium' | 'high' | 'critical';
        /** Only tasks of the agent of this name, deleted or not. */
        assigned_agent?: string;
        /** Only tasks of this project. */
        project_id?: string;
        /** Page size; more than 100 counts as 100. */
        limit?: number;
        /** How many to skip, from the newest. */
        offset?: number;
      };
    };
    data: Task[];
    paged: true;
  };
  /**
   * Put a task on the board.
   *
   * The answer has five fields; read the task for the others. A task may be put into any status. `dependsOn` and `assignedAgent` must name tasks and an agent that exist. Emits `task.created`, whatever the status.
   *
   * Needs the scope `tasks:write`.
   */
  createTask: {
    request: {
      body: NewTask;
      /** Carries a request out once: repeated under the same key it is answered as the first time, for 24 hours. */
      idempotencyKey?: string | undefined;
    };
    data: TaskCreated;
    paged: false;
  };
  /**
   * Read a task, its dependencies and what blocks it.
   *
   * Unlike in lists, `dependsOn` has the title and the status of each task, and `blockedBy` those that are not `done` yet.
   *
   * Needs the scope `tasks:read`.
   */
  getTask: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
    };
    data: TaskDetail;
    paged: false;
  };
  /**
   * Change a task: its text, its column, its agent, its dependencies.
   *
   * Changes the fields that are sent, and no others: changes of different fields at the same time both survive. `null` clears `description`, `assignedAgent` or `projectId`. Any status may follow any other. Where nothing changes, nothing is written, and the `ETag` stays. Emits `task.status_changed` if the status changes, and `task.completed` beside it if the new one is `done`.
   *
   * Needs the scope `tasks:write`.
   */
  updateTask: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
      body?: TaskPatch;
      /** Refuses the change with 412 unless the resource still has this ETag; several, parted by commas, or `*` for any. */
      ifMatch?: string | undefined;
    };
    data: Task;
    paged: false;
  };
  /**
   * Delete a task for good.
   *
   * Refused while a task that depends on it is not `done`; `details` name these. Dependent tasks that are `done` lose the dependency with it. Emits nothing.
   *
   * Needs the scope `tasks:write`.
   */
  deleteTask: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
      /** Refuses the change with 412 unless the resource still has this ETag; several, parted by commas, or `*` for any. */
      ifMatch?: string | undefined;
    };
    data: undefined;
    paged: false;
  };
  /**
   * List the agents, newest first.
   *
   * The agents of the organization, without their prompts and souls. `search` ignores case; all of its words must be found, each at the beginning of a word.
   *
   * Needs the scope `agents:read`.
   */
  listAgents: {
    request: {
      query?: {
        /** Only agents of this category. */
        category?: 'business' | 'development' | 'qa' | 'research' | 'operations' | 'specialized';
        /** Only agents of this status. */
        status?: 'active' | 'inactive' | 'draft';
        /** Only agents in whose name, displayName and description all of these words begin a word. */
        search?: string;
        /** Page size; more than 100 counts as 100. */
        limit?: number;
        /** How many to skip, from the newest. */
        offset?: number;
      };
    };
    data: AgentListItem[];
    paged: true;
  };
  /**
   * Create an agent.
   *
   * The answer has four fields; read the agent for the others. Without a `model` the organization's default is written into the agent: a later change of the default leaves it as it is.
   *
   * Needs the scope `agents:write`.
   */
  createAgent: {
    request: {
      body: NewAgent;
      /** Carries a request out once: repeated under the same key it is answered as the first time, for 24 hours. */
      idempotencyKey?: string | undefined;
    };
    data: AgentCreated;
    paged: false;
  };
  /**
   * Read an agent, its prompt and its soul.
   *
   * The whole agent, with its system prompt and its soul.
   *
   * Needs the scope `agents:read`.
   */
  getAgent: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
    };
    data: Agent;
    paged: false;
  };
  /**
   * Change an agent.
   *
   * Changes the fields that are sent, and no others. `null` clears `description`, empties `systemPrompt` or `soul`, and sets `model` to the default of this moment. The name is for good. Set `inactive`, an agent is not executed or delegated to, and keeps all it has.
   *
   * Needs the scope `agents:write`.
   */
  updateAgent: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body?: AgentPatch;
      /** Refuses the change with 412 unless the resource still has this ETag; several, parted by commas, or `*` for any. */
      ifMatch?: string | undefined;
    };
    data: Agent;
    paged: false;
  };
  /**
   * Delete an agent and its history for good.
   *
   * With the answer the agent, its executions and its metrics are gone from every read. Its tasks keep its name. What it is running ends without a record or an event, and its task goes back to `assigned`. A new agent of the same name starts with nothing of it.
   *
   * Needs the scope `agents:write`.
   */
  deleteAgent: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      /** Refuses the change with 412 unless the resource still has this ETag; several, parted by commas, or `*` for any. */
      ifMatch?: string | undefined;
    };
    data: undefined;
    paged: false;
  };
  /**
   * List the skills of an agent, in the order in which they were assigned.
   *
   * All of them; the list is not paged.
   *
   * Needs the scope `agents:read`.
   */
  listSkills: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
    };
    data: AssignedSkill[];
    paged: false;
  };
  /**
   * Assign a skill of the catalogue to an agent.
   *
   * The skill is told to the agent in all that it does from then on. A skill that it has already stays as it is, and is answered 201 too. What can be assigned: `GET /api/agents/skills`.
   *
   * Needs the scope `agents:write`.
   */
  assignSkill: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body: SkillAssignment;
      /** Carries a request out once: repeated under the same key it is answered as the first time, for 24 hours. */
      idempotencyKey?: string | undefined;
    };
    data: undefined;
    paged: false;
  };
  /**
   * Take a skill from an agent.
   *
   * The agent is told nothing of it from then on.
   *
   * Needs the scope `agents:write`.
   */
  unassignSkill: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
        /** Id of a skill of the catalogue. */
        skillId: string;
      };
    };
    data: undefined;
    paged: false;
  };
  /**
   * Give an agent another soul.
   *
   * Replaces the soul as a whole, and answers the agent as a read does.
   *
   * Needs the scope `agents:write`.
   */
  updateSoul: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body: SoulUpdate;
      /** Refuses the change with 412 unless the resource still has this ETag; several, parted by commas, or `*` for any. */
      ifMatch?: string | undefined;
    };
    data: Agent;
    paged: false;
  };
  /**
   * Have an agent do something.
   *
   * Answers as soon as the execution is accepted; it runs behind the answer, for ten minutes at most, and its end is in `GET /api/agents/{name}/executions/{id}` and in the events `agent.completed` and `agent.failed`. With a `taskId` the task moves to `in_progress`, and at the end to `up_for_review` (both quality gates passed), `qa_review` (anything else) or `assigned` (failed), unless somebody has moved it meanwhile. A task that waits for others is refused with `task_blocked`. Emits `agent.spawned`.
   *
   * Needs the scope `agents:execute`.
   */
  executeAgent: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body: NewExecution;
      /** Carries a request out once: repeated under the same key it is answered as the first time, for 24 hours. */
      idempotencyKey?: string | undefined;
    };
    data: ExecutionStarted;
    paged: false;
  };
  /**
   * Have an agent hand something on to another.
   *
   * Starts an execution of `toAgent`, whose `delegationId` names this delegation; the delegating agent needs no status, the other must be `active`. Three delegations in a row are allowed, by what is running on the same task; back to an agent of the chain is refused.
   *
   * Needs the scope `agents:execute`.
   */
  delegateTask: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body: NewDelegation;
      /** Carries a request out once: repeated under the same key it is answered as the first time, for 24 hours. */
      idempotencyKey?: string | undefined;
    };
    data: Delegation;
    paged: false;
  };
  /**
   * List the executions of all agents, newest first.
   *
   * Without inputs and outputs. A start that was answered is always seen, and `pagination.total` is exact at any size.
   *
   * Needs the scope `agents:read`.
   */
  listExecutions: {
    request: {
      query?: {
        /** Only executions of this status. */
        status?: 'running' | 'completed' | 'failed';
        /** Only executions of the agent that has this name now. */
        agentName?: string;
        /** Page size; more than 100 counts as 100. */
        limit?: number;
        /** How many to skip, from the newest. */
        offset?: number;
      };
    };
    data: ExecutionListItem[];
    paged: true;
  };
  /**
   * List the executions of an agent, newest first.
   *
   * Like the list of all; an `agentName` that differs from the path gives an empty page.
   *
   * Needs the scope `agents:read`.
   */
  listAgentExecutions: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      query?: {
        /** Only executions of this status. */
        status?: 'running' | 'completed' | 'failed';
        /** Only executions of the agent that has this name now. */
        agentName?: string;
        /** Page size; more than 100 counts as 100. */
        limit?: number;
        /** How many to skip, from the newest. */
        offset?: number;
      };
    };
    data: ExecutionListItem[];
    paged: true;
  };
  /**
   * Read an execution, its input and its output.
   *
   * While it runs it has no `output`, `tokensUsed`, `completedAt` and `durationMs`, and its quality gates are `pending`. A failed one has an `error` and no output.
   *
   * Needs the scope `agents:read`.
   */
  getExecution: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
        /** Id of an execution. */
        id: string;
      };
    };
    data: Execution;
    paged: false;
  };
  /**
   * Read how an agent has done.
   *
   * Executions count on the day, in UTC, on which they started. Averages and percentiles are over those that have ended, failed ones too.
   *
   * Needs the scope `agents:read`.
   */
  getMetrics: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      query?: {
        /** The last so many UTC days, today included. */
        period?: '7d' | '30d' | '90d';
      };
    };
    data: AgentMetrics;
    paged: false;
  };
  /**
   * Have an agent learn from its recent executions.
   *
   * Answers within 30 seconds. Looks for what went wrong or took too long in recent executions, proposes an edit of the system prompt, tries old and new on recent inputs, and adopts the edit only if it is judged better, blind and in both orders. The soul and the skills stay. One pass at a time for an agent.
   *
   * Needs the scope `agents:execute`.
   */
  selfImproveAgent: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body?: NewImprovement;
      /** Carries a request out once: repeated under the same key it is answered as the first time, for 24 hours. */
      idempotencyKey?: string | undefined;
    };
    data: Improvement;
    paged: false;
  };
  /**
   * List skills that can be assigned.
   *
   * The skills of this deployment. Every organization can assign them to its agents.
   *
   * Needs the scope `agents:read`.
   */
  listSkillCatalogue: {
    request: {};
    data: Skill[];
    paged: false;
  };
  /**
   * Register a URL that hears events.
   *
   * It hears every change that comes after the answer. The URL is checked again at each attempt: names must lead to public addresses. To change a URL or a secret, register anew and delete the old one. At most 100 an organization.
   *
   * Needs the scope `webhooks:write`.
   */
  registerWebhook: {
    request: {
      body: NewWebhook;
      /** Carries a request out once: repeated under the same key it is answered as the first time, for 24 hours. */
      idempotencyKey?: string | undefined;
    };
    data: WebhookRegistered;
    paged: false;
  };
  /**
   * List the webhooks, newest first.
   *
   * All of them; the list is not paged. The secret is in no answer.
   *
   * Needs the scope `webhooks:read`.
   */
  listWebhooks: {
    request: {};
    data: Webhook[];
    paged: false;
  };
  /**
   * Read a webhook.
   *
   * The secret is in no answer.
   *
   * Needs the scope `webhooks:read`.
   */
  getWebhook: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
      };
    };
    data: Webhook;
    paged: false;
  };
  /**
   * Delete a webhook: it gets nothing more.
   *
   * What waits for a retry is not sent any more.
   *
   * Needs the scope `webhooks:write`.
   */
  deleteWebhook: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
      };
    };
    data: undefined;
    paged: false;
  };
  /**
   * Send a made-up event to a webhook now, once.
   *
   * Signed and sent as any delivery is, and recorded in the history, but never retried. Answers 200 with what the receiver said, whatever it was: `httpStatus` is the receiver's, 0 when none came, and `error` says why an attempt failed. Takes 10 seconds at most.
   *
   * Needs the scope `webhooks:write`.
   */
  testWebhook: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
      };
      body: TestEvent;
      /** Carries a request out once: repeated under the same key it is answered as the first time, for 24 hours. */
      idempotencyKey?: string | undefined;
    };
    data: TestResult;
    paged: false;
  };
  /**
   * List the attempts of a webhook, newest first.
   *
   * Newest first by the end of the attempt; kept for 90 days. A retry has `redelivery` true.
   *
   * Needs the scope `webhooks:read`.
   */
  listDeliveries: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
      };
      query?: {
        /** Page size; more than 100 counts as 100. */
        limit?: number;
        /** How many to skip, from the newest. */
        offset?: number;
      };
    };
    data: DeliveryRecord[];
    paged: true;
  };
  /**
   * Say that the service answers.
   *
   * Asks nothing of what the service depends on.
   */
  health: {
    request: {};
    data: {
      status: 'ok';
    };
    paged: false;
  };
};

/** Where each operation is found. */
export const operations = {
  listTasks: { method: 'GET', path: '/api/kanban-tasks' },
  createTask: { method: 'POST', path: '/api/kanban-tasks' },
  getTask: { method: 'GET', path: '/api/kanban-tasks/{id}' },
  updateTask: { method: 'PATCH', path: '/api/kanban-tasks/{id}' },
  deleteTask: { method: 'DELETE', path: '/api/kanban-tasks/{id}' },
  listAgents: { method: 'GET', path: '/api/agents' },
  createAgent: { method: 'POST', path: '/api/agents' },
  getAgent: { method: 'GET', path: '/api/agents/{name}' },
  updateAgent: { method: 'PATCH', path: '/api/agents/{name}' },
  deleteAgent: { method: 'DELETE', path: '/api/agents/{name}' },
  listSkills: { method: 'GET', path: '/api/agents/{name}/skills' },
  assignSkill: { method: 'POST', path: '/api/agents/{name}/skills' },
  unassignSkill: { method: 'DELETE', path: '/api/agents/{name}/skills/{skillId}' },
  updateSoul: { method: 'PATCH', path: '/api/agents/{name}/soul' },
  executeAgent: { method: 'POST', path: '/api/agents/{name}/execute' },
  delegateTask: { method: 'POST', path: '/api/agents/{name}/delegate' },
  listExecutions: { method: 'GET', path: '/api/agents/executions' },
  listAgentExecutions: { method: 'GET', path: '/api/agents/{name}/executions' },
  getExecution: { method: 'GET', path: '/api/agents/{name}/executions/{id}' },
  getMetrics: { method: 'GET', path: '/api/agents/{name}/metrics' },
  selfImproveAgent: { method: 'POST', path: '/api/agents/{name}/self-improve' },
  listSkillCatalogue: { method: 'GET', path: '/api/agents/skills' },
  registerWebhook: { method: 'POST', path: '/api/webhooks/register' },
  listWebhooks: { method: 'GET', path: '/api/webhooks' },
  getWebhook: { method: 'GET', path: '/api/webhooks/{id}' },
  deleteWebhook: { method: 'DELETE', path: '/api/webhooks/{id}' },
  testWebhook: { method: 'POST', path: '/api/webhooks/{id}/test' },
  listDeliveries: { method: 'GET', path: '/api/webhooks/{id}/deliveries' },
  health: { method: 'GET', path: '/health' },
} as const;
