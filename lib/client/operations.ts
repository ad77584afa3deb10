// Generated from the contract by `npm run generate`. Change the contract, not this file.

export type NewTask = {
  /** Short summary of the task. */
  title: string;
  /** Details or acceptance criteria. The quality gates evaluate the output against them. */
  description?: string;
  status?: TaskStatus;
  priority?: TaskPriority;
  /** Name of the agent that the task is assigned to. */
  assignedAgent?: string;
  /** Id of a project. The service has no project resource: any id of this form is valid. */
  projectId?: string;
  /** Ids of the tasks that must be `done` first. */
  dependsOn?: string[];
};

export type TaskPatch = {
  /** Short summary of the task. */
  title?: string;
  /** Details or acceptance criteria. The quality gates evaluate the output against them. */
  description?: string | null;
  status?: TaskStatus;
  priority?: TaskPriority;
  /** Name of the agent that the task is assigned to. */
  assignedAgent?: string | null;
  /** Id of a project. The service has no project resource: any id of this form is valid. */
  projectId?: string | null;
  /** Ids of the tasks that must be `done` first. */
  dependsOn?: string[];
};

export type NewAgent = {
  /** Unique kebab-case identifier of an agent, used in paths. */
  name: string;
  /** Human-readable name. */
  displayName: string;
  /** Purpose of the agent. */
  description?: string;
  category: AgentCategory;
  /** Amazon Bedrock id of the LLM or of an inference profile. The default is the organization's default model. A deployment can restrict the allowed models. */
  model?: string;
  /** Task-oriented instructions. Self-improvement can rewrite them. */
  systemPrompt?: string;
  /** Core identity: values, communication style and constraints. Self-improvement does not change it. */
  soul?: string;
  /** Identifiers of the capabilities of the agent. */
  capabilities?: string[];
  /** Only an `active` agent can be executed or delegated to. */
  status?: 'active' | 'inactive' | 'draft';
};

export type AgentPatch = {
  /** Human-readable name. */
  displayName?: string;
  /** Purpose of the agent. */
  description?: string | null;
  category?: AgentCategory;
  /** Amazon Bedrock id of the LLM or of an inference profile. The default is the organization's default model. A deployment can restrict the allowed models. */
  model?: string | null;
  /** Task-oriented instructions. Self-improvement can rewrite them. */
  systemPrompt?: string | null;
  /** Core identity: values, communication style and constraints. Self-improvement does not change it. */
  soul?: string | null;
  /** Identifiers of the capabilities of the agent. */
  capabilities?: string[];
  /** Only an `active` agent can be executed or delegated to. */
  status?: 'active' | 'inactive' | 'draft';
};

export type SoulUpdate = {
  /** Core identity: values, communication style and constraints. Self-improvement does not change it. */
  soul: string;
};

export type SkillAssignment = {
  /** Id of a skill in the catalogue. */
  skillId: string;
};

export type NewExecution = {
  /** The instruction for the agent. */
  input: string;
  /** The task to work on. The execution changes its status. */
  taskId?: string;
  /** Key-values that the agent gets with its input: at most 65,536 bytes as JSON, nested at most 32 levels deep. */
  context?: Record<string, unknown>;
};

export type NewDelegation = {
  /** Name of the agent to delegate to. */
  toAgent: string;
  /** The task to work on. */
  taskId?: string;
  /** The input of the other agent, passed on unchanged. */
  instruction: string;
  /** Key-values that the agent gets with its input: at most 65,536 bytes as JSON, nested at most 32 levels deep. */
  context?: Record<string, unknown>;
};

export type NewImprovement = {
  /** Number of executions to review, newest first. */
  lookbackExecutions?: number;
  /** What the review focuses on. */
  focusArea?: string;
};

export type NewWebhook = {
  /** URL of the receiver: https, port 443 or 8443, a public address, without credentials. */
  url: string;
  events: EventName[];
  /** Shared secret for signing deliveries. Without a secret, deliveries are not signed. No response contains the secret. */
  secret?: string;
};

export type TestEvent = {
  /** Any of the six events. The webhook does not have to be subscribed to it. */
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
  /** Name of the agent that the task is assigned to. It stays when the agent is deleted. */
  assignedAgent?: string;
  projectId?: string;
  /** Ids of the tasks that must be `done` first. */
  dependsOn: string[];
  createdAt: string;
  /** Time of the last change of a field. */
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
  /** Name of the agent that the task is assigned to. It stays when the agent is deleted. */
  assignedAgent?: string;
  projectId?: string;
  /** The tasks that must be `done` first. */
  dependsOn: TaskReference[];
  createdAt: string;
  /** Time of the last change of a field. */
  updatedAt: string;
  /** The tasks in `dependsOn` that are not `done`. */
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
  /** Whether this is a system agent, created with the organization. System agents cannot be deleted. */
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
  /** Id of a skill in the catalogue. */
  id: string;
  name: string;
  /** What an agent with this skill can do, and when it uses the skill. */
  description: string;
};

export type AssignedSkill = {
  /** Id of a skill in the catalogue. */
  id: string;
  name: string;
  /** What an agent with this skill can do, and when it uses the skill. */
  description: string;
  assignedAt: string;
};

export type ExecutionStatus = 'running' | 'completed' | 'failed';

export type QualityGates = {
  /** The evaluation of the output by the agent's own model. */
  selfTest: 'pending' | 'passed' | 'failed' | 'skipped';
  /** The evaluation of the output by the organization's `qa-reviewer` agent. */
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
  /** End time; absent while the execution runs. */
  completedAt?: string;
  /** Milliseconds from startedAt to completedAt, including the quality gates. */
  durationMs?: number;
  input: string;
  /** The generated text; only present if the execution is completed. */
  output?: string;
  /** Tokens of all model calls, including the quality gates. */
  tokensUsed?: number;
  /** The model that the execution asks; `simulator` if the built-in simulator answered. */
  model: string;
  qualityGates: QualityGates;
  /** What each quality gate answered: the first 2,000 characters. Only present if the execution is completed. */
  gateReasons?: {
    selfTest?: string;
    qaReview?: string;
  };
  /** Why the execution failed; only present if it failed. `not_started`: no worker was free within the waiting limit. `deadline`: ten minutes passed since a worker first started it. `lost`: two workers were lost. Any other value is a sentence for people. */
  error?: string;
  /** The delegation that started the execution. */
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
  /** End time; absent while the execution runs. */
  completedAt?: string;
  /** Milliseconds from startedAt to completedAt, including the quality gates. */
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
    /** The fraction completed / (completed + failed), rounded to four decimals; 0 if no execution has ended. */
    successRate: number;
  };
  /** Durations in milliseconds of the executions that have ended. Percentiles are exact for up to 1,000 executions; for more, the error is at most 5 %. */
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
  /** Whether the pass changed the system prompt. */
  improved: boolean;
  /** What the pass changed, or why it changed nothing. */
  changesSummary: string;
  /** Hash of the system prompt before the pass. */
  previousPromptHash: string;
  /** Hash of the system prompt after the pass; the same as before if the prompt did not change. */
  newPromptHash: string;
};

export type EventName = 'task.created' | 'task.completed' | 'task.status_changed' | 'agent.spawned' | 'agent.completed' | 'agent.failed';

export type Webhook = {
  /** Id of a webhook. */
  id: string;
  url: string;
  events: EventName[];
  active: boolean;
  /** End of the latest attempt in the last 90 days, successful or not. */
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
  /** Id of this attempt. The first attempt has the id of the delivery. */
  id: string;
  /** Id of the delivery, which X-Service-Delivery has. It is the same for all attempts of a delivery. */
  deliveryId: string;
  /** Number of the attempt, starting at 1. */
  attempt: number;
  event: EventName;
  /** HTTP status of the receiver; 0 if it did not respond. */
  httpStatus: number;
  durationMs: number;
  /** End of the attempt. */
  deliveredAt: string;
  /** Whether the attempt was a retry. */
  redelivery: boolean;
  /** Why the attempt failed; absent if it succeeded. */
  error?: string;
};

export type TestResult = {
  /** Id of a delivery, or of an attempt. */
  deliveryId: string;
  /** HTTP status of the receiver; 0 if it did not respond. */
  httpStatus: number;
  /** First 16 KiB of the response body; empty if the receiver did not respond. */
  responseBody: string;
  durationMs: number;
  /** Why the attempt failed; absent if it succeeded. */
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
    /** End time; absent while the execution runs. */
    completedAt?: string;
    /** Milliseconds from startedAt to completedAt, including the quality gates. */
    durationMs?: number;
    tokensUsed?: number;
    error?: string;
  };
  occurredAt: string;
};

export type Pagination = {
  /** The applied page size. It is smaller than the requested limit if that number of items does not fit into one response of 6 MB; the next page starts at offset + limit. */
  limit: number;
  /** Number of skipped items. */
  offset: number;
  /** Exact number of items that match the filters, on all pages. */
  total: number;
};

/** All error codes. */
export type ErrorCode = 'invalid_json' | 'validation_failed' | 'unauthorized' | 'insufficient_scope' | 'system_agent' | 'not_found' | 'method_not_allowed' | 'name_taken' | 'has_dependents' | 'dependency_cycle' | 'agent_not_active' | 'task_blocked' | 'delegation_cycle' | 'delegation_too_deep' | 'improvement_in_progress' | 'request_in_progress' | 'limit_reached' | 'precondition_failed' | 'payload_too_large' | 'unsupported_media_type' | 'unknown_reference' | 'reserved_name' | 'url_not_allowed' | 'self_delegation' | 'idempotency_key_reused' | 'rate_limited' | 'internal_error' | 'unavailable';

export type ErrorDetail = {
  /** The path of a field, such as `dependsOn.0`, or the name of a query parameter or header. */
  path: string;
  code: 'required' | 'unknown_field' | 'read_only' | 'invalid_type' | 'invalid_value' | 'not_found' | 'blocking' | 'cycle' | 'limit';
  message: string;
};

export type ErrorResponse = {
  success: false;
  error: {
    code: ErrorCode;
    /** What is wrong and what to do, for people. */
    message: string;
    /** The X-Request-Id of the response. */
    requestId: string;
    /** The problems of the request, at most 20. */
    details?: ErrorDetail[];
  };
};

/** The bodies of deliveries, by event. */
export type Deliveries = {
  /** A task is created. */
  'task.created': {
    event: 'task.created';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: TaskEventData;
  };
  /** A task reaches `done`. */
  'task.completed': {
    event: 'task.completed';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: TaskEventData;
  };
  /** A caller or an execution changes the status of a task. */
  'task.status_changed': {
    event: 'task.status_changed';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: TaskEventData;
  };
  /** An execution starts. */
  'agent.spawned': {
    event: 'agent.spawned';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: ExecutionEventData;
  };
  /** An execution completes successfully. */
  'agent.completed': {
    event: 'agent.completed';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: ExecutionEventData;
  };
  /** An execution ends in an error. */
  'agent.failed': {
    event: 'agent.failed';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: ExecutionEventData;
  };
};

/** The request and the response data of each operation. */
export type Operations = {
  /**
   * List tasks.
   *
   * Returns the tasks that match all filters, newest first. The list includes each change as soon as its request has responded, and `pagination.total` is exact at any size. A valid filter that matches no task leads to an empty page.
   *
   * Required scope: `tasks:read`.
   */
  listTasks: {
    request: {
      query?: {
        /** Return only tasks with this status. */
        status?: 'backlog' | 'assigned' | 'in_progress' | 'qa_review' | 'up_for_review' | 'done';
        /** Return only tasks with this priority. */
        priority?: 'low' | 'medium' | 'high' | 'critical';
        /** Return only tasks that are assigned to the agent with this name, which may be deleted. */
        assigned_agent?: string;
        /** Return only tasks of this project. */
        project_id?: string;
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: Task[];
    paged: true;
  };
  /**
   * Create a task.
   *
   * Creates a task. The response has five fields; get the task for the others. A new task can have any status. `dependsOn` and `assignedAgent` must name existing tasks and an existing agent. Publishes `task.created`, whatever the status.
   *
   * Required scope: `tasks:write`.
   */
  createTask: {
    request: {
      body: NewTask;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: TaskCreated;
    paged: false;
  };
  /**
   * Get a task.
   *
   * Returns the task with its dependencies. Unlike in lists, `dependsOn` has the id, title and status of each task; `blockedBy` has those that are not `done`.
   *
   * Required scope: `tasks:read`.
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
   * Update a task.
   *
   * Changes only the fields in the request. Concurrent updates of different fields both take effect. `null` clears `description`, `assignedAgent` or `projectId`. Any status can follow any other. A request that changes no value writes nothing, and the `ETag` stays the same. Publishes `task.status_changed` if the status changes, and also `task.completed` if the new status is `done`.
   *
   * Required scope: `tasks:write`.
   */
  updateTask: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
      body?: TaskPatch;
      /** Makes the change only if the resource still has this ETag; otherwise the status is 412. Separate several ETags with commas; `*` matches any. */
      ifMatch?: string | undefined;
    };
    data: Task;
    paged: false;
  };
  /**
   * Delete a task.
   *
   * Permanently deletes the task. Fails with `has_dependents` while tasks that are not `done` depend on it; `details` names them. The task is removed from `dependsOn` of dependent tasks that are `done`. Publishes no event.
   *
   * Required scope: `tasks:write`.
   */
  deleteTask: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
      /** Makes the change only if the resource still has this ETag; otherwise the status is 412. Separate several ETags with commas; `*` matches any. */
      ifMatch?: string | undefined;
    };
    data: undefined;
    paged: false;
  };
  /**
   * List agents.
   *
   * Returns the agents of the organization, newest first, without system prompts and souls. `search` ignores case; an agent matches if each search word is the beginning of one of its words.
   *
   * Required scope: `agents:read`.
   */
  listAgents: {
    request: {
      query?: {
        /** Return only agents of this category. */
        category?: 'business' | 'development' | 'qa' | 'research' | 'operations' | 'specialized';
        /** Return only agents with this status. */
        status?: 'active' | 'inactive' | 'draft';
        /** Search words. Return only agents where each search word is the beginning of a word in name, displayName or description. */
        search?: string;
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: AgentListItem[];
    paged: true;
  };
  /**
   * Create an agent.
   *
   * Creates an agent. The response has four fields; get the agent for the others. Without a `model`, the agent gets the organization's current default model; a later change of the default does not change the agent.
   *
   * Required scope: `agents:write`.
   */
  createAgent: {
    request: {
      body: NewAgent;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: AgentCreated;
    paged: false;
  };
  /**
   * Get an agent.
   *
   * Returns the agent with its system prompt and its soul.
   *
   * Required scope: `agents:read`.
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
   * Update an agent.
   *
   * Changes only the fields in the request. `null` clears `description`, empties `systemPrompt` or `soul`, and sets `model` to the current default model. The name cannot change. An `inactive` agent cannot be executed or delegated to, and keeps all its data.
   *
   * Required scope: `agents:write`.
   */
  updateAgent: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body?: AgentPatch;
      /** Makes the change only if the resource still has this ETag; otherwise the status is 412. Separate several ETags with commas; `*` matches any. */
      ifMatch?: string | undefined;
    };
    data: Agent;
    paged: false;
  };
  /**
   * Delete an agent.
   *
   * Permanently deletes the agent and its execution history. After the response, no read returns the agent, its executions or its metrics. Its tasks keep its name. Its running executions end without a record and without an event, and their tasks return to `assigned`. A new agent with the same name starts without any of this data.
   *
   * Required scope: `agents:write`.
   */
  deleteAgent: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      /** Makes the change only if the resource still has this ETag; otherwise the status is 412. Separate several ETags with commas; `*` matches any. */
      ifMatch?: string | undefined;
    };
    data: undefined;
    paged: false;
  };
  /**
   * List skills of an agent.
   *
   * Returns all skills of the agent, in the order of assignment. The list is not paged.
   *
   * Required scope: `agents:read`.
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
   * Assign a skill.
   *
   * Assigns a skill of the catalogue to the agent. Later calls to the agent's model include the skill. If the agent already has the skill, nothing changes and the status is 201 as well. `GET /api/agents/skills` lists the skills that can be assigned.
   *
   * Required scope: `agents:write`.
   */
  assignSkill: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body: SkillAssignment;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: undefined;
    paged: false;
  };
  /**
   * Unassign a skill.
   *
   * Removes the skill from the agent. Later calls to the agent's model no longer include it.
   *
   * Required scope: `agents:write`.
   */
  unassignSkill: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
        /** Id of a skill in the catalogue. */
        skillId: string;
      };
    };
    data: undefined;
    paged: false;
  };
  /**
   * Update the soul of an agent.
   *
   * Replaces the whole soul and returns the updated agent.
   *
   * Required scope: `agents:write`.
   */
  updateSoul: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body: SoulUpdate;
      /** Makes the change only if the resource still has this ETag; otherwise the status is 412. Separate several ETags with commas; `*` matches any. */
      ifMatch?: string | undefined;
    };
    data: Agent;
    paged: false;
  };
  /**
   * Run an agent.
   *
   * Starts an execution and responds as soon as it is accepted. The execution then runs asynchronously, for at most ten minutes. `GET /api/agents/{name}/executions/{id}` and the events `agent.completed` and `agent.failed` report the result. With a `taskId`, the task moves to `in_progress`. When the execution ends, the task moves to `up_for_review` if both quality gates passed, to `assigned` if the execution failed, and to `qa_review` in all other cases. If another request has changed the status of the task in the meantime, the status stays. A task with dependencies that are not `done` leads to the error `task_blocked`. Publishes `agent.spawned`.
   *
   * Required scope: `agents:execute`.
   */
  executeAgent: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body: NewExecution;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: ExecutionStarted;
    paged: false;
  };
  /**
   * Delegate to another agent.
   *
   * Starts an execution of `toAgent`, which has the `delegationId` of the response. The delegating agent can have any status; `toAgent` must be `active`. A chain can have at most three delegations, counted by the executions that run on the same task. An agent cannot delegate back to an agent of its chain.
   *
   * Required scope: `agents:execute`.
   */
  delegateTask: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body: NewDelegation;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: Delegation;
    paged: false;
  };
  /**
   * List executions.
   *
   * Returns the executions of all agents, newest first, without inputs and outputs. Each execution is in the list as soon as its start has responded, and `pagination.total` is exact at any size.
   *
   * Required scope: `agents:read`.
   */
  listExecutions: {
    request: {
      query?: {
        /** Return only executions with this status. */
        status?: 'running' | 'completed' | 'failed';
        /** Return only executions of the agent that currently has this name. */
        agentName?: string;
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: ExecutionListItem[];
    paged: true;
  };
  /**
   * List executions of an agent.
   *
   * Returns the executions of the agent, newest first, in the format of `GET /api/agents/executions`. An `agentName` that differs from the path leads to an empty page.
   *
   * Required scope: `agents:read`.
   */
  listAgentExecutions: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      query?: {
        /** Return only executions with this status. */
        status?: 'running' | 'completed' | 'failed';
        /** Return only executions of the agent that currently has this name. */
        agentName?: string;
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: ExecutionListItem[];
    paged: true;
  };
  /**
   * Get an execution.
   *
   * Returns the execution with its input and its output. A running execution has no `output`, `tokensUsed`, `completedAt` and `durationMs`, and its quality gates are `pending`. A failed execution has an `error` and no `output`.
   *
   * Required scope: `agents:read`.
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
   * Get agent metrics.
   *
   * Returns the metrics of the agent over a period. An execution counts on the UTC day on which it started. Averages and percentiles cover all executions that have ended, failed executions included.
   *
   * Required scope: `agents:read`.
   */
  getMetrics: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      query?: {
        /** The period: the last 7, 30 or 90 UTC days, today included. */
        period?: '7d' | '30d' | '90d';
      };
    };
    data: AgentMetrics;
    paged: false;
  };
  /**
   * Improve an agent.
   *
   * Reviews recent executions for failures and slow runs, and proposes an edit of the system prompt. Tests the old and the new prompt on recent inputs, and adopts the edit only if a blind comparison, made in both orders, rates it better. Does not change the soul and the skills. Responds within 30 seconds. An agent can have one pass at a time.
   *
   * Required scope: `agents:execute`.
   */
  selfImproveAgent: {
    request: {
      params: {
        /** Unique kebab-case identifier of an agent, used in paths. */
        name: string;
      };
      body?: NewImprovement;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: Improvement;
    paged: false;
  };
  /**
   * List available skills.
   *
   * Returns the skill catalogue of this deployment. Every organization can assign these skills to its agents.
   *
   * Required scope: `agents:read`.
   */
  listSkillCatalogue: {
    request: {};
    data: Skill[];
    paged: false;
  };
  /**
   * Register a webhook.
   *
   * Registers a webhook. It receives its subscribed events for every change after the response. The URL is checked again at each attempt: its host name must resolve to public addresses. To change the URL or the secret, register a new webhook and delete the old one. An organization can have at most 100 webhooks.
   *
   * Required scope: `webhooks:write`.
   */
  registerWebhook: {
    request: {
      body: NewWebhook;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: WebhookRegistered;
    paged: false;
  };
  /**
   * List webhooks.
   *
   * Returns all webhooks, newest first, without their secrets. The list is not paged.
   *
   * Required scope: `webhooks:read`.
   */
  listWebhooks: {
    request: {};
    data: Webhook[];
    paged: false;
  };
  /**
   * Get a webhook.
   *
   * Returns the webhook without its secret.
   *
   * Required scope: `webhooks:read`.
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
   * Delete a webhook.
   *
   * Deletes the webhook. Its scheduled retries are not sent.
   *
   * Required scope: `webhooks:write`.
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
   * Send a test event.
   *
   * Sends a synthetic event once, signed and recorded like any other delivery, but never retried. The status of the response is 200 whatever the receiver responds: `httpStatus` is the status of the receiver, 0 if it did not respond, and `error` says why the attempt failed. Takes at most 10 seconds.
   *
   * Required scope: `webhooks:write`.
   */
  testWebhook: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
      };
      body: TestEvent;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: TestResult;
    paged: false;
  };
  /**
   * List deliveries.
   *
   * Returns the delivery attempts of the webhook, newest first by the end of the attempt. Attempts are stored for 90 days. `redelivery` is true for a retry.
   *
   * Required scope: `webhooks:read`.
   */
  listDeliveries: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
      };
      query?: {
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: DeliveryRecord[];
    paged: true;
  };
  /**
   * Check the health of the service.
   *
   * Confirms that the API responds. Does not check the services that it depends on.
   */
  health: {
    request: {};
    data: {
      status: 'ok';
    };
    paged: false;
  };
};

/** The method and the path of each operation. */
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
