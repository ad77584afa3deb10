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
  /** The claim of the caller, which `status` and `description` need while a claim lasts. */
  claimId?: string;
};

export type NewClaim = {
  /** A name for people. */
  worker: string;
  /** How long the claim lasts from now on, in seconds. 900 by default. */
  leaseSeconds?: number;
  /** A claim to renew. */
  claimId?: string;
};

export type NextClaim = {
  /** A name for people. */
  worker: string;
  /** Only tasks that are assigned to the agent with this name. */
  assignedAgent?: string;
  /** Only tasks of this project. */
  projectId?: string;
  /** How long the claim lasts from now on, in seconds. 900 by default. */
  leaseSeconds?: number;
};

export type ClaimRenewal = {
  /** Id of a claim. */
  claimId: string;
  /** How long the claim lasts from now on, in seconds. 900 by default. */
  leaseSeconds?: number;
  /** A note. */
  note?: string;
};

export type ClaimRelease = {
  /** Id of a claim. */
  claimId: string;
  /** By default the one before the claim. */
  status?: TaskStatus;
  /** A note. */
  note?: string;
  /** The work has failed. */
  failed?: boolean;
};

export type Review = {
  /** `accept` moves the task to `done`, `send_back` to its agent. */
  decision: ReviewDecision;
  /** Why, in Markdown; `send_back` needs it. */
  comment?: string;
};

export type NewComment = {
  /** Markdown. */
  text: string;
};

export type NewAgent = {
  /** Name of an agent, in kebab-case. */
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
  /** Identifiers of the capabilities of the agent. `tasks.read`, `tasks.write`, `delegate`, `skills` let its model call tools; others are labels. */
  capabilities?: string[];
  /** Only an `active` agent can be executed or delegated to. */
  status?: AgentStatus;
  /** Maximum number of model and tool calls of an execution, if below the deployment's. */
  maxSteps?: number;
  /** Tokens after which an execution calls the model no more, if below the deployment's. */
  maxTokens?: number;
  /** The service starts executions on the ready tasks of the agent. Setting it needs `agents:execute`. */
  autoRun?: boolean;
  /** With this many running executions, the service starts no further one. */
  maxRunning?: number;
  /** How often the service starts again on a task after a failure. */
  autoRetry?: number;
  /** A task goes to `done`, not to `up_for_review`, if both quality gates passed. Setting it needs `tasks:write`. */
  autoAccept?: boolean;
  /** Executions get the outputs of finished dependencies. */
  dependencyResults?: boolean;
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
  /** Identifiers of the capabilities of the agent. `tasks.read`, `tasks.write`, `delegate`, `skills` let its model call tools; others are labels. */
  capabilities?: string[];
  /** Only an `active` agent can be executed or delegated to. */
  status?: AgentStatus;
  /** Maximum number of model and tool calls of an execution, if below the deployment's. */
  maxSteps?: number | null;
  /** Tokens after which an execution calls the model no more, if below the deployment's. */
  maxTokens?: number | null;
  /** The service starts executions on the ready tasks of the agent. Setting it needs `agents:execute`. */
  autoRun?: boolean;
  /** With this many running executions, the service starts no further one. */
  maxRunning?: number;
  /** How often the service starts again on a task after a failure. */
  autoRetry?: number;
  /** A task goes to `done`, not to `up_for_review`, if both quality gates passed. Setting it needs `tasks:write`. */
  autoAccept?: boolean;
  /** Executions get the outputs of finished dependencies. */
  dependencyResults?: boolean;
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
  /** Key-values that the agent gets with its input: at most 65,536 bytes as JSON, nested at most 32 levels deep. A whole number beyond ±9,007,199,254,740,991, and a number too large for JSON, is rejected; send it as a string. */
  context?: Record<string, unknown>;
};

export type NewDelegation = {
  /** Name of the agent to delegate to. */
  toAgent: string;
  /** The task to work on. */
  taskId?: string;
  /** The input of the other agent, passed on unchanged. */
  instruction: string;
  /** Key-values that the agent gets with its input: at most 65,536 bytes as JSON, nested at most 32 levels deep. A whole number beyond ±9,007,199,254,740,991, and a number too large for JSON, is rejected; send it as a string. */
  context?: Record<string, unknown>;
};

export type NewImprovement = {
  /** Number of executions to review, newest first. */
  lookbackExecutions?: number;
  /** What the review focuses on. */
  focusArea?: string;
};

export type NewWebhook = {
  /** URL of the receiver: https, port 443 or 8443, a public address, without credentials. White space at its ends is dropped. */
  url: string;
  events: EventName[];
  /** Purpose of the webhook. */
  description?: string;
  /** Send only events of tasks that have all of these values, and of executions on these tasks. */
  taskFilter?: {
    /** The project of the task. */
    projectId?: string;
    /** Name of the agent that the task is assigned to. The agent does not have to exist. */
    assignedAgent?: string;
  };
  /** The maximum number of attempts, retries included, that begin in any one second. Test events do not count. */
  maxPerSecond?: number;
  /** Whether the service recovers what the webhook has missed by itself: after a time in which it failed, and when it is resumed. */
  autoRecover?: boolean;
  /** Shared secret for signing deliveries. After `whsec_` it must be standard, padded base64. Without a secret, deliveries are not signed. No response contains the secret. */
  secret?: string;
};

export type WebhookPatch = {
  /** URL of the receiver: https, port 443 or 8443, a public address, without credentials. White space at its ends is dropped. */
  url?: string;
  events?: EventName[];
  /** Purpose of the webhook. */
  description?: string | null;
  /** Send only events of tasks that have all of these values, and of executions on these tasks. */
  taskFilter?: {
    /** The project of the task. */
    projectId?: string;
    /** Name of the agent that the task is assigned to. The agent does not have to exist. */
    assignedAgent?: string;
  } | null;
  /** False pauses the webhook, true resumes it. */
  active?: boolean;
  /** The maximum number of attempts, retries included, that begin in any one second. Test events do not count. */
  maxPerSecond?: number | null;
  /** Whether the service recovers what the webhook has missed by itself: after a time in which it failed, and when it is resumed. */
  autoRecover?: boolean;
};

export type SecretRotation = {
  /** The new shared secret for signing deliveries. After `whsec_` it must be standard, padded base64. No response contains the secret. */
  secret: string;
  /** How long deliveries are also signed with the replaced secret. With 0 it ends at once. */
  overlapSeconds?: number;
};

export type TestEvent = {
  /** Any event. The webhook does not have to be subscribed to it. */
  event: EventName;
};

export type TaskStatus = 'backlog' | 'assigned' | 'in_progress' | 'qa_review' | 'up_for_review' | 'done';

export type TaskPriority = 'low' | 'medium' | 'high' | 'critical';

export type Claim = {
  /** Id of a claim. */
  id: string;
  worker: string;
  /** The claim has no force from this time on, unless it is renewed before. */
  expiresAt: string;
  /** The latest note of the worker. */
  note?: string;
};

export type ClaimEndReason = 'released' | 'expired' | 'taken_back' | 'failed';

export type Stopped = {
  reason: string;
  at: string;
};

export type ReviewDecision = 'accept' | 'send_back';

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
  /** The claim of a worker, as long as it lasts. */
  claim?: {
    /** Id of a claim. */
    id: string;
    worker: string;
    /** The claim has no force from this time on, unless it is renewed before. */
    expiresAt: string;
    /** The latest note of the worker. */
    note?: string;
  };
  /** Why the task is not offered to workers, if it is not. */
  stopped?: {
    reason: string;
    at: string;
  };
  createdAt: string;
  /** Time of the last change of a field. */
  updatedAt: string;
};

export type ClaimedTask = {
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
  /** The claim of a worker, as long as it lasts. */
  claim?: {
    /** Id of a claim. */
    id: string;
    worker: string;
    /** The claim has no force from this time on, unless it is renewed before. */
    expiresAt: string;
    /** The latest note of the worker. */
    note?: string;
  };
  /** Why the task is not offered to workers, if it is not. */
  stopped?: {
    reason: string;
    at: string;
  };
  createdAt: string;
  /** Time of the last change of a field. */
  updatedAt: string;
  /** The comments of the latest reviews, the newest first, at most 8 KiB of text in all: what the work has to answer. Only if there are some. */
  reviewComments?: Comment[];
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

export type TaskResult = {
  executionId: string;
  agentName: string;
  /** How it ended. */
  status: 'completed' | 'failed';
  /** Why it failed: a code such as `cancelled`, or a sentence. */
  error?: string;
  /** Why it failed, in a sentence for people. */
  errorReason?: string;
  /** The first 16 KiB of its output; absent if it has none. */
  output?: string;
  /** Length of the whole output, in characters. */
  outputLength: number;
  qualityGates: QualityGates;
  /** What the gates answered. */
  gateReasons?: {
    selfTest?: string;
    qaReview?: string;
  };
  tokensUsed?: number;
  completedAt: string;
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
  /** The claim of a worker, as long as it lasts. */
  claim?: {
    /** Id of a claim. */
    id: string;
    worker: string;
    /** The claim has no force from this time on, unless it is renewed before. */
    expiresAt: string;
    /** The latest note of the worker. */
    note?: string;
  };
  /** Why the task is not offered to workers, if it is not. */
  stopped?: {
    reason: string;
    at: string;
  };
  createdAt: string;
  /** Time of the last change of a field. */
  updatedAt: string;
  /** The tasks in `dependsOn` that are not `done`. */
  blockedBy: TaskReference[];
  /** Only for a task that waits for an agent with `autoRun`. */
  autoRun?: {
    state: 'waiting' | 'held' | 'stopped';
    /** `waiting`: for dependencies, for an execution of the agent to end, or for a limit of the organization. `held`: agents have passed the task on too often or to one that had it, or the last of them may not delegate; a person has to start it. */
    reason?: 'dependencies' | 'running' | 'limit' | 'chain' | 'no_delegate';
    /** `stopped`: the execution that has failed. */
    executionId?: string;
    /** `stopped`: its error. */
    error?: string;
  };
  /** The newest ended execution on the task, if there is one; only with `include=result`. */
  result?: {
    executionId: string;
    agentName: string;
    /** How it ended. */
    status: 'completed' | 'failed';
    /** Why it failed: a code such as `cancelled`, or a sentence. */
    error?: string;
    /** Why it failed, in a sentence for people. */
    errorReason?: string;
    /** The first 16 KiB of its output; absent if it has none. */
    output?: string;
    /** Length of the whole output, in characters. */
    outputLength: number;
    qualityGates: QualityGates;
    /** What the gates answered. */
    gateReasons?: {
      selfTest?: string;
      qaReview?: string;
    };
    tokensUsed?: number;
    completedAt: string;
  };
};

export type TaskListItem = {
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
  /** The claim of a worker, as long as it lasts. */
  claim?: {
    /** Id of a claim. */
    id: string;
    worker: string;
    /** The claim has no force from this time on, unless it is renewed before. */
    expiresAt: string;
    /** The latest note of the worker. */
    note?: string;
  };
  /** Why the task is not offered to workers, if it is not. */
  stopped?: {
    reason: string;
    at: string;
  };
  createdAt: string;
  /** Time of the last change of a field. */
  updatedAt: string;
  /** The tasks in `dependsOn` that are not `done`; only with `include=blockedBy`. */
  blockedBy?: TaskReference[];
};

export type TaskGroup = {
  /** The status, the priority or the name of the agent. `null`: the tasks without an agent, and those whose agent is deleted. */
  value: string | null;
  /** Number of tasks with this value. */
  count: number;
};

export type TaskCounts = {
  groupBy: 'status' | 'priority' | 'assigned_agent';
  /** Number of tasks that match the filters: the sum of all groups. */
  total: number;
  groups: TaskGroup[];
};

export type Actor = {
  /** `token`: a program with an access token. `person`: a person, whose access token was created as one of a person. `agent`: an agent in one of its executions. `service`: the service by itself. */
  kind: 'token' | 'agent' | 'person' | 'service';
  /** The name of the access token, or its id if it has none; the name of the agent. */
  name: string;
  /** The id of the access token or of the agent. */
  id?: string;
  /** The execution in which an agent has made the change, or which the change has started. */
  executionId?: string;
};

export type Comment = {
  /** Id of a comment. */
  id: string;
  /** Markdown. */
  text: string;
  /** Who has written it. */
  author: {
    /** `token`: a program with an access token. `person`: a person, whose access token was created as one of a person. `agent`: an agent in one of its executions. `service`: the service by itself. */
    kind: 'token' | 'agent' | 'person' | 'service';
    /** The name of the access token, or its id if it has none; the name of the agent. */
    name: string;
    /** The id of the access token or of the agent. */
    id?: string;
  };
  /** The decision, if it is the comment of a review. */
  review?: ReviewDecision;
  createdAt: string;
  /** Time of the last change of the text. */
  updatedAt: string;
};

export type HistoryKind = 'created' | 'changed' | 'claimed' | 'released' | 'reviewed' | 'commented' | 'execution_started' | 'execution_ended' | 'deleted';

export type FieldChange = {
  field: string;
  /** The value before; `null` if it was not set. A long text by its length and hash. */
  from: string | number | boolean | string[] | {
    /** Number of characters. */
    length: number;
    /** SHA-256 of its UTF-8 bytes. */
    hash: string;
  } | null;
  /** The value after. */
  to: string | number | boolean | string[] | {
    /** Number of characters. */
    length: number;
    /** SHA-256 of its UTF-8 bytes. */
    hash: string;
  } | null;
};

export type HistoryEntry = {
  /** Id of an entry of a history. */
  id: string;
  at: string;
  kind: HistoryKind;
  by: Actor;
  /** The id of the request, as its `X-Request-Id` header has it. */
  requestId?: string;
  /** The changed fields. */
  changes?: FieldChange[];
  /** What the worker or the reviewer has said, or the start of the comment; why a claim ended. */
  note?: string;
};

export type AgentCategory = 'business' | 'development' | 'qa' | 'research' | 'operations' | 'specialized';

export type AgentStatus = 'active' | 'inactive' | 'draft';

export type Agent = {
  /** Id of an agent. */
  id: string;
  /** Name of an agent, in kebab-case. */
  name: string;
  displayName: string;
  description?: string;
  category: AgentCategory;
  model: string;
  systemPrompt: string;
  soul: string;
  capabilities: string[];
  status: AgentStatus;
  /** Maximum number of model and tool calls of an execution, if below the deployment's. */
  maxSteps?: number;
  /** Tokens after which an execution calls the model no more, if below the deployment's. */
  maxTokens?: number;
  /** The service starts executions on the ready tasks of the agent. Setting it needs `agents:execute`. */
  autoRun: boolean;
  /** With this many running executions, the service starts no further one. */
  maxRunning: number;
  /** How often the service starts again on a task after a failure. */
  autoRetry: number;
  /** A task goes to `done`, not to `up_for_review`, if both quality gates passed. Setting it needs `tasks:write`. */
  autoAccept: boolean;
  /** Executions get the outputs of finished dependencies. */
  dependencyResults: boolean;
  /** Whether this is a system agent, created with the organization. System agents cannot be deleted. */
  isSystem: boolean;
  createdAt: string;
  updatedAt: string;
};

export type AgentListItem = {
  /** Id of an agent. */
  id: string;
  /** Name of an agent, in kebab-case. */
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
  /** Name of an agent, in kebab-case. */
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
  /** Name of an agent, in kebab-case. */
  agentName: string;
  /** Id of a task. */
  taskId?: string;
  status: ExecutionStatus;
  startedAt: string;
  /** End time; absent while the execution runs. */
  completedAt?: string;
  /** Milliseconds from startedAt to completedAt, including the quality gates. */
  durationMs?: number;
  /** Number of steps, including the quality gates that were asked. In lists, executions have it once they have ended. */
  stepCount?: number;
  /** Tokens of all model calls, including the quality gates; absent while the execution runs. Lists have it with `include=results`. */
  tokensUsed?: number;
  /** Present, and `true`, if `tokensUsed` contains estimates: a model call that was aborted counts its input, estimated from its length, and nothing of its answer. Lists have it with `include=results`. */
  tokensEstimated?: boolean;
  qualityGates: QualityGates;
  /** What has started the execution. Absent in lists for executions that a version before 0.3.0 has listed. */
  startedBy?: {
    /** `auto_run`: the service, on a ready task of an agent with `autoRun`. */
    kind: 'request' | 'auto_run' | 'delegation';
  };
  input: string;
  /** The context of the request that started the execution; absent if it had none. Lists have none. */
  context?: Record<string, unknown>;
  /** The generated text; only present if the execution is completed. */
  output?: string;
  /** The model that the execution asks; `simulator` if the built-in simulator answered. */
  model: string;
  /** Hash of the agent's system prompt that the model got; while the execution runs, that at its start. Absent for executions that an early version of the service ended. */
  promptHash?: string;
  /** What each quality gate answered: the first 2,000 characters. Of a gate that was skipped without an answer, `No verdict: ` and why. Only present if the execution is completed. */
  gateReasons?: {
    selfTest?: string;
    qaReview?: string;
  };
  /** Why the execution failed; only present if it failed. `not_started`: no worker was free within the waiting limit. `deadline`: ten minutes, or the limit of the deployment, passed since a worker first started it. `lost`: two workers in a row were lost. `step_limit`, `token_limit`: it used up its steps or its tokens. `cancelled`: a request cancelled it, or the execution that delegated it. `agent_not_active`: its agent was deactivated while it ran. Any other value is a sentence for people. */
  error?: string;
  /** What happened, in a sentence for people; only present if the execution failed. For `deadline` it says whether the time was spent waiting for a model that throttles. */
  errorReason?: string;
  /** Present, and `true`, while a running execution waits for its model, which is overloaded or has too many requests. */
  waitingForModel?: boolean;
  /** The delegation that started the execution. */
  delegationId?: string;
  /** The step that a worker has started and not ended; only present while the execution runs, and not in the quality gates. */
  currentStep?: {
    number: number;
    kind: 'model' | 'tool' | 'gate';
    name: string;
    startedAt: string;
  };
};

export type ExecutionListItem = {
  /** Id of an execution. */
  id: string;
  /** Name of an agent, in kebab-case. */
  agentName: string;
  /** Id of a task. */
  taskId?: string;
  status: ExecutionStatus;
  startedAt: string;
  /** End time; absent while the execution runs. */
  completedAt?: string;
  /** Milliseconds from startedAt to completedAt, including the quality gates. */
  durationMs?: number;
  /** Number of steps, including the quality gates that were asked. In lists, executions have it once they have ended. */
  stepCount?: number;
  /** Tokens of all model calls, including the quality gates; absent while the execution runs. Lists have it with `include=results`. */
  tokensUsed?: number;
  /** Present, and `true`, if `tokensUsed` contains estimates: a model call that was aborted counts its input, estimated from its length, and nothing of its answer. Lists have it with `include=results`. */
  tokensEstimated?: boolean;
  /** The results of the quality gates. Lists have it with `include=results` once the execution has ended, unless an earlier version of the service ended it. */
  qualityGates?: {
    /** The evaluation of the output by the agent's own model. */
    selfTest: 'pending' | 'passed' | 'failed' | 'skipped';
    /** The evaluation of the output by the organization's `qa-reviewer` agent. */
    qaReview: 'pending' | 'passed' | 'failed' | 'skipped';
  };
  /** What has started the execution. Absent in lists for executions that a version before 0.3.0 has listed. */
  startedBy?: {
    /** `auto_run`: the service, on a ready task of an agent with `autoRun`. */
    kind: 'request' | 'auto_run' | 'delegation';
  };
  /** The first 200 characters of the input; only with `include=subject`. */
  inputStart?: string;
  /** The title that the task has now; only with `include=subject`, if the task exists and the access token has the scope `tasks:read`. */
  taskTitle?: string;
  /** The code of why the execution failed, such as `cancelled`; only with `include=results`, and only if it has a code. `getExecution` has every error. */
  error?: string;
};

export type ExecutionStarted = {
  /** Id of an execution. */
  executionId: string;
  /** Name of an agent, in kebab-case. */
  agentName: string;
  status: ExecutionStatus;
  startedAt: string;
};

export type DelegationStatus = 'accepted' | 'running' | 'completed' | 'failed';

export type Delegation = {
  /** Id of a delegation. */
  delegationId: string;
  /** Name of an agent, in kebab-case. */
  fromAgent: string;
  /** Name of an agent, in kebab-case. */
  toAgent: string;
  status: DelegationStatus;
};

export type Period = '7d' | '30d' | '90d';

export type AgentMetrics = {
  /** Name of an agent, in kebab-case. */
  agentName: string;
  period: Period;
  /** The prompt of the request; absent without one. */
  prompt?: string;
  executions: {
    total: number;
    completed: number;
    failed: number;
    running: number;
    /** The fraction completed / (completed + failed), rounded to four decimals; 0 if no execution has ended. */
    successRate: number;
  };
  /** Durations in milliseconds of the executions that have ended. Percentiles, also those of `series`, are exact for up to 1,000 executions in the period; for more, and with `prompt`, the error is at most 5 %. */
  performance: {
    avgDurationMs: number;
    p50DurationMs: number;
    p95DurationMs: number;
  };
  tokens: {
    total: number;
    avgPerExecution: number;
  };
  /** One entry for each UTC day of the period, also for days without executions, oldest first. Absent without `series=daily`. */
  series?: DailyMetrics[];
};

export type DailyMetrics = {
  /** The UTC day on which the executions started. */
  date: string;
  /** Number of executions: those that have ended and those that are running. */
  total: number;
  failed: number;
  /** Tokens of the executions that have ended. */
  tokens: number;
  /** Median duration in milliseconds; 0 if no execution has ended. */
  p50DurationMs: number;
  /** 95th percentile of the durations in milliseconds; 0 if no execution has ended. */
  p95DurationMs: number;
};

export type ExecutionMetrics = {
  period: Period;
  executions: {
    total: number;
    completed: number;
    failed: number;
    running: number;
    /** The fraction completed / (completed + failed), rounded to four decimals; 0 if no execution has ended. */
    successRate: number;
  };
  /** Durations in milliseconds of the executions that have ended. The error of percentiles, also of those of `series`, is at most 5 %. */
  performance: {
    avgDurationMs: number;
    p50DurationMs: number;
    p95DurationMs: number;
  };
  tokens: {
    total: number;
    avgPerExecution: number;
  };
  /** How many executions of the organization can run at the same time: `RUNNING_CAP` of the deployment. */
  runningLimit: number;
  /** One entry for each UTC day of the period, also for days without executions, oldest first. */
  series: DailyMetrics[];
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

/** `adopted`: the edit is in the prompt. `not_better`, `worse`: too few votes are for it. `no_proposal`: the improver proposed no edit. `not_usable`: the edit cannot be applied. `not_tried`, `not_judged`: too many model calls failed. `superseded`: the agent was changed in the meantime. */
export type ImprovementDecision = 'adopted' | 'not_better' | 'worse' | 'no_proposal' | 'not_usable' | 'not_tried' | 'not_judged' | 'superseded';

export type ImprovementPass = {
  /** Id of a self-improvement pass. */
  id: string;
  decision: ImprovementDecision;
  /** Whether the pass changed the system prompt. */
  improved: boolean;
  /** What the pass changed, or why it changed nothing. */
  changesSummary: string;
  /** Hash of the system prompt before the pass. */
  previousPromptHash: string;
  /** Hash of the system prompt after the pass; the same as before if the prompt did not change. */
  newPromptHash: string;
  /** Tokens of all model calls. */
  tokensUsed: number;
  startedAt: string;
  /** Milliseconds from the request to the decision. */
  durationMs: number;
  /** Absent if the improver proposed nothing. */
  proposal?: {
    /** What the edit does and why. */
    summary: string;
    /** The text to add at the end of the prompt. */
    append?: string;
    /** The passage of the prompt to replace. */
    replace?: string;
    /** The text in place of that passage. */
    with?: string;
    /** true if a text is longer: only its first 2,000 characters are shown. */
    truncated?: boolean;
  };
  /** The number of votes for each prompt, and of questions without a choice. */
  votes: {
    new: number;
    previous: number;
    none: number;
  };
  /** The probability that an edit without an effect gets these votes; the edit is adopted below 0.02. Absent if no answers were compared. */
  chance?: number;
  /** The pairs of answers: ten, or none. */
  trials: ImprovementTrial[];
};

export type ImprovementProposal = {
  /** What the edit does and why. */
  summary: string;
  /** The text to add at the end of the prompt. */
  append?: string;
  /** The passage of the prompt to replace. */
  replace?: string;
  /** The text in place of that passage. */
  with?: string;
  /** true if a text is longer: only its first 2,000 characters are shown. */
  truncated?: boolean;
};

export type ImprovementTrial = {
  /** The execution whose input was tried. */
  executionId: string;
  /** Whether the improver did not see the input. */
  heldOut: boolean;
  input: string;
  /** The answer of the previous prompt. */
  previousAnswer?: string;
  /** The answer of the new prompt. */
  newAnswer?: string;
  /** Why the previous prompt has no answer. */
  previousError?: string;
  /** Why the new prompt has no answer. */
  newError?: string;
  /** One vote for each question to the reviewer; empty if the answers are equal, or if one is missing. */
  votes: ImprovementVote[];
  /** true if a text is longer: only its first 2,000 characters are shown. */
  truncated?: boolean;
};

export type ImprovementVote = 'new' | 'previous' | 'none';

export type PromptSource = 'create' | 'update' | 'self-improve' | 'restore';

export type PromptListItem = {
  /** Hash of a system prompt: the SHA-256 of its UTF-8 bytes. */
  hash: string;
  /** The version of the agent that got this prompt. Absent if it is not known, for a prompt that an early version of the service stored. */
  version?: number;
  /** Time at which the agent got this prompt. Absent if it is not known, for a prompt that an early version of the service stored. */
  createdAt?: string;
  /** What gave the agent this prompt: its creation, an update, a self-improvement pass, or the restoration of a former prompt. Absent if it is not known, for a prompt that an early version of the service stored. */
  source?: PromptSource;
  /** What changed; only present for the sources `self-improve` and `restore`. */
  changesSummary?: string;
};

export type Prompt = {
  /** Hash of a system prompt: the SHA-256 of its UTF-8 bytes. */
  hash: string;
  /** The version of the agent that got this prompt. Absent if it is not known, for a prompt that an early version of the service stored. */
  version?: number;
  /** Time at which the agent got this prompt. Absent if it is not known, for a prompt that an early version of the service stored. */
  createdAt?: string;
  /** What gave the agent this prompt: its creation, an update, a self-improvement pass, or the restoration of a former prompt. Absent if it is not known, for a prompt that an early version of the service stored. */
  source?: PromptSource;
  /** What changed; only present for the sources `self-improve` and `restore`. */
  changesSummary?: string;
  /** The text of the prompt. */
  systemPrompt: string;
};

export type EventName = 'task.created' | 'task.completed' | 'task.status_changed' | 'task.claimed' | 'task.released' | 'task.commented' | 'task.deleted' | 'agent.spawned' | 'agent.completed' | 'agent.failed' | 'webhook.failing' | 'webhook.recovered' | 'webhook.paused';

export type Webhook = {
  /** Id of a webhook. */
  id: string;
  url: string;
  events: EventName[];
  description?: string;
  /** The webhook receives only events of tasks that have all of these values, and of executions on these tasks; absent if it receives all. */
  taskFilter?: {
    projectId?: string;
    assignedAgent?: string;
  };
  /** Whether the service recovers missed events by itself; absent if never set. */
  autoRecover?: boolean;
  /** The maximum number of attempts that begin in any one second; absent if there is none. */
  maxPerSecond?: number;
  /** Whether deliveries are signed: the webhook has a secret. */
  signed: boolean;
  /** When the secret was set or rotated; absent without a secret, and for one that was set before version 0.3.0. */
  secretChangedAt?: string;
  /** False while the webhook is paused: nothing is sent to it. */
  active: boolean;
  /** Why the service has paused the webhook; absent if a caller paused it. */
  disabledReason?: 'failing';
  /** When the service paused the webhook. */
  disabledAt?: string;
  /** End of the latest attempt in the last 90 days, successful or not. */
  lastDeliveryAt?: string;
  /** End of the latest successful attempt among the newest 100. Earlier ones are known if deliveries have failed permanently since. Lists have it with `include=health`. */
  lastSuccessAt?: string;
  /** End of the latest failed attempt among the newest 100. Lists have it with `include=health`. */
  lastFailureAt?: string;
  /** End of the first failed attempt after which all have failed. Failed tests and failed deliveries of events about webhooks do not count. Lists have it with `include=health`. */
  failingSince?: string;
  createdAt: string;
};

export type AttemptHour = {
  /** Start of the UTC hour. */
  startsAt: string;
  /** Attempts that succeeded: the receiver responded with a status of 2xx. */
  status2xx: number;
  /** Attempts with a status of 3xx. */
  status3xx: number;
  /** Attempts with a status of 4xx. */
  status4xx: number;
  /** Attempts with a status of 5xx, or one that HTTP does not define. */
  status5xx: number;
  /** Attempts without a response. */
  noResponse: number;
};

export type WebhookDetail = {
  /** Id of a webhook. */
  id: string;
  url: string;
  events: EventName[];
  description?: string;
  /** The webhook receives only events of tasks that have all of these values, and of executions on these tasks; absent if it receives all. */
  taskFilter?: {
    projectId?: string;
    assignedAgent?: string;
  };
  /** Whether the service recovers missed events by itself; absent if never set. */
  autoRecover?: boolean;
  /** The maximum number of attempts that begin in any one second; absent if there is none. */
  maxPerSecond?: number;
  /** Whether deliveries are signed: the webhook has a secret. */
  signed: boolean;
  /** When the secret was set or rotated; absent without a secret, and for one that was set before version 0.3.0. */
  secretChangedAt?: string;
  /** False while the webhook is paused: nothing is sent to it. */
  active: boolean;
  /** Why the service has paused the webhook; absent if a caller paused it. */
  disabledReason?: 'failing';
  /** When the service paused the webhook. */
  disabledAt?: string;
  /** End of the latest attempt in the last 90 days, successful or not. */
  lastDeliveryAt?: string;
  /** End of the latest successful attempt among the newest 100. Earlier ones are known if deliveries have failed permanently since. Lists have it with `include=health`. */
  lastSuccessAt?: string;
  /** End of the latest failed attempt among the newest 100. Lists have it with `include=health`. */
  lastFailureAt?: string;
  /** End of the first failed attempt after which all have failed. Failed tests and failed deliveries of events about webhooks do not count. Lists have it with `include=health`. */
  failingSince?: string;
  createdAt: string;
  /** The attempts in each of the last 24 hours, the oldest hour first and the current hour last; only with `include=hours`. Test events count. In the first 24 hours after an upgrade from version 0.2.0 or an earlier one, the hours before the upgrade can be absent. */
  hours?: AttemptHour[];
};

export type WebhookRegistered = {
  /** Id of a webhook. */
  id: string;
  url: string;
  events: EventName[];
  /** False while the webhook is paused: nothing is sent to it. */
  active: boolean;
  createdAt: string;
};

export type SecretRotated = {
  /** Id of a webhook. */
  id: string;
  url: string;
  events: EventName[];
  description?: string;
  /** The webhook receives only events of tasks that have all of these values, and of executions on these tasks; absent if it receives all. */
  taskFilter?: {
    projectId?: string;
    assignedAgent?: string;
  };
  /** Whether the service recovers missed events by itself; absent if never set. */
  autoRecover?: boolean;
  /** The maximum number of attempts that begin in any one second; absent if there is none. */
  maxPerSecond?: number;
  /** Whether deliveries are signed: the webhook has a secret. */
  signed: boolean;
  /** When the secret was set or rotated; absent without a secret, and for one that was set before version 0.3.0. */
  secretChangedAt?: string;
  /** False while the webhook is paused: nothing is sent to it. */
  active: boolean;
  /** Why the service has paused the webhook; absent if a caller paused it. */
  disabledReason?: 'failing';
  /** When the service paused the webhook. */
  disabledAt?: string;
  /** End of the latest attempt in the last 90 days, successful or not. */
  lastDeliveryAt?: string;
  /** End of the latest successful attempt among the newest 100. Earlier ones are known if deliveries have failed permanently since. Lists have it with `include=health`. */
  lastSuccessAt?: string;
  /** End of the latest failed attempt among the newest 100. Lists have it with `include=health`. */
  lastFailureAt?: string;
  /** End of the first failed attempt after which all have failed. Failed tests and failed deliveries of events about webhooks do not count. Lists have it with `include=health`. */
  failingSince?: string;
  createdAt: string;
  /** When deliveries stop being signed with the replaced secret; absent if the webhook had no secret. */
  previousSecretEndsAt?: string;
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
  /** Whether the attempt was a retry or a redelivery. */
  redelivery: boolean;
  /** Why the attempt failed; absent if it succeeded. */
  error?: string;
  /** True for a test event; absent otherwise, and for attempts that were made before version 0.2.0. */
  test?: boolean;
};

export type DeliveryState = 'pending' | 'retrying' | 'delivered' | 'exhausted' | 'skipped';

export type AttemptDetail = {
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
  /** Whether the attempt was a retry or a redelivery. */
  redelivery: boolean;
  /** Why the attempt failed; absent if it succeeded. */
  error?: string;
  /** True for a test event; absent otherwise, and for attempts that were made before version 0.2.0. */
  test?: boolean;
  /** What may help, if the service knows it. `unsigned`: the receiver responded 401 or 403 to a delivery without a signature, because the webhook has no secret. */
  hint?: 'unsigned';
  /** IP address of the connection; absent if there was none. */
  address?: string;
  /** The parts of `durationMs`. A phase is absent if the attempt had none, as on a kept connection, or failed before its end. */
  phases?: {
    /** Milliseconds to resolve the host name. */
    dns?: number;
    /** Milliseconds to open the connection. */
    connect?: number;
    /** Milliseconds for the TLS handshake. */
    tls?: number;
    /** Milliseconds from then on until the first byte of the response. */
    firstByte?: number;
  };
  /** Headers of the request without its signatures; null for attempts that were made before version 0.2.0. */
  requestHeaders: Record<string, string> | null;
  /** First 50 headers of the response, at most 2 KiB, in lower case and without the values of cookies. Null without a response, for a success with an empty body, and when they are no longer stored. */
  responseHeaders: Record<string, string> | null;
  /** First 4 KiB of the response body as text. Null without a response, and when it is no longer stored. */
  responseBody: string | null;
  /** Whether `responseBody` is only the start; absent if it is null. */
  truncated?: boolean;
};

export type Delivery = {
  /** Id of a delivery, or of an attempt. */
  deliveryId: string;
  /** Absent for a test event. */
  eventId?: string;
  event: EventName;
  /** True for a test event; absent otherwise. */
  test?: boolean;
  /** `pending`: the first attempt or a redelivery is due. `retrying`: a retry is due. `delivered`: an attempt succeeded. `exhausted`: all attempts failed. `skipped`: the webhook was paused at the time of the event. */
  state: DeliveryState;
  /** When the next attempt is due; absent if there is none. It may be running. */
  nextAttemptAt?: string;
  /** Body of the last attempt, exactly as it was signed. Null before the first attempt, and when it is no longer stored. */
  body: string | null;
  /** The attempts of the last 90 days, the first one first; with many redeliveries only the last 100. */
  attempts: AttemptDetail[];
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
    /** Only in `task.status_changed`. */
    previousStatus?: TaskStatus;
    status: TaskStatus;
    assignedAgent?: string;
    projectId?: string;
  };
  /** The version of the task after the change: a later change has a greater one. Two events of one change have the same. Absent in events from before 0.3.0. */
  sequence?: number;
  occurredAt: string;
};

export type ClaimEventData = {
  task: {
    /** Id of a task. */
    id: string;
    title: string;
    /** Only in `task.status_changed`. */
    previousStatus?: TaskStatus;
    status: TaskStatus;
    assignedAgent?: string;
    projectId?: string;
  };
  /** The version of the task after the change: a later change has a greater one. Two events of one change have the same. Absent in events from before 0.3.0. */
  sequence?: number;
  occurredAt: string;
  claim: {
    /** Id of a claim. */
    id: string;
    worker: string;
  };
  /** Why the claim has ended. Only in `task.released`. */
  reason?: ClaimEndReason;
};

export type CommentEventData = {
  task: {
    /** Id of a task. */
    id: string;
    title: string;
    /** Only in `task.status_changed`. */
    previousStatus?: TaskStatus;
    status: TaskStatus;
    assignedAgent?: string;
    projectId?: string;
  };
  /** The version of the task after the change: a later change has a greater one. Two events of one change have the same. Absent in events from before 0.3.0. */
  sequence?: number;
  occurredAt: string;
  comment: {
    /** Id of a comment. */
    id: string;
    /** Markdown. */
    text: string;
    /** Who has written it. */
    author: {
      /** `token`: a program with an access token. `person`: a person, whose access token was created as one of a person. `agent`: an agent in one of its executions. `service`: the service by itself. */
      kind: 'token' | 'agent' | 'person' | 'service';
      /** The name of the access token, or its id if it has none; the name of the agent. */
      name: string;
      /** The id of the access token or of the agent. */
      id?: string;
    };
    /** The decision, if it is the comment of a review. */
    review?: ReviewDecision;
    /** Id of a task. */
    taskId: string;
  };
};

export type ExecutionEventData = {
  execution: {
    /** Id of an execution. */
    id: string;
    /** Name of an agent, in kebab-case. */
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

export type WebhookEventData = {
  webhook: {
    /** Id of a webhook. */
    id: string;
    /** Host of its URL, with the port if the URL has one. */
    host: string;
    description?: string;
    /** False while the webhook is paused. */
    active: boolean;
    /** End of the first failed attempt after which all have failed; in `webhook.recovered`, of the time that has ended. */
    failingSince?: string;
    /** Why the service has paused the webhook; absent if a caller paused it. */
    disabledReason?: 'failing';
  };
  /** Only in `webhook.recovered` of a webhook with `autoRecover`: how many missed events are not recovered, because there are too many or they are too old. */
  notRecovered?: number;
  occurredAt: string;
};

export type Event = {
  /** Id of an event. */
  id: string;
  event: EventName;
  /** When the change was made. */
  occurredAt: string;
  /** The `data` of its deliveries. */
  data: ClaimEventData | CommentEventData | TaskEventData | ExecutionEventData | WebhookEventData;
};

export type EventDelivery = {
  /** Id of a webhook. */
  webhookId: string;
  /** Id of a delivery, or of an attempt. */
  deliveryId: string;
  /** `pending`: the first attempt or a redelivery is due or running. `retrying`: a retry is due or running. `delivered`: an attempt succeeded. `exhausted`: all attempts failed, and no other is due. `skipped`: the webhook was paused when the event occurred. */
  state: DeliveryState;
  /** Number of attempts that were made. */
  attempts: number;
};

export type EventDetail = {
  /** Id of an event. */
  id: string;
  event: EventName;
  /** When the change was made. */
  occurredAt: string;
  /** The `data` of its deliveries. */
  data: ClaimEventData | CommentEventData | TaskEventData | ExecutionEventData | WebhookEventData;
  deliveries: EventDelivery[];
};

export type EventOfWebhook = {
  /** Id of an event. */
  eventId: string;
  event: EventName;
  /** When the change was made. */
  occurredAt: string;
  /** Id of a delivery, or of an attempt. */
  deliveryId: string;
  /** `pending`: the first attempt or a redelivery is due. `retrying`: a retry is due. `delivered`: an attempt succeeded. `exhausted`: all attempts failed. `skipped`: the webhook was paused at the time of the event. */
  state: DeliveryState;
  /** Number of attempts that were made, with redeliveries and those of recoveries. */
  attempts: number;
  /** When the first attempt began; absent before it has ended. */
  firstAttemptAt?: string;
  /** When the last attempt began. */
  lastAttemptAt?: string;
  /** HTTP status of the receiver in the last attempt; 0 if it did not respond. */
  httpStatus?: number;
  /** Why the last attempt failed; absent if it succeeded. */
  error?: string;
  /** When the next attempt is due; absent if there is none. It may be running. */
  nextAttemptAt?: string;
  /** What may help, if the service knows it. `unsigned`: the receiver responded 401 or 403 to a delivery without a signature, because the webhook has no secret. */
  hint?: 'unsigned';
  /** The task of the event, or of its execution. */
  taskId?: string;
  /** The title of that task after the change; absent in events of executions and webhooks. */
  taskTitle?: string;
  /** The execution of the event. */
  executionId?: string;
  /** The agent of that execution. */
  agentName?: string;
};

export type Me = {
  /** Name of the organization that the access token belongs to. */
  organization: string;
  token: {
    /** Id of the access token: the 12 characters after `crew_`, as `token list` shows them. */
    id: string;
    /** What the access token is for; absent if it has no name. */
    name?: string;
    createdAt: string;
  };
  /** The scopes of the access token. No scope implies another. */
  scopes: ('tasks:read' | 'tasks:write' | 'agents:read' | 'agents:write' | 'agents:execute' | 'webhooks:read' | 'webhooks:write')[];
  /** Whether the built-in simulator of the local service answers for agents. If not, a model does, whose tokens can cost money. */
  simulatedModel: boolean;
};

export type Pagination = {
  /** The applied page size. It is smaller than the requested limit if that number of items does not fit into one response of 6 MB; the next page starts at offset + limit. */
  limit: number;
  /** Number of skipped items. */
  offset: number;
  /** Exact number of items that match the filters, on all pages. */
  total: number;
};

export type CursorPagination = {
  /** The applied page size. */
  limit: number;
  /** The value of `after` or `before` for the next page; null at the end of the list. With `after` it is never null. */
  next: string | null;
};

/** All error codes. */
export type ErrorCode = 'invalid_json' | 'validation_failed' | 'unauthorized' | 'insufficient_scope' | 'system_agent' | 'not_author' | 'origin_not_allowed' | 'not_found' | 'method_not_allowed' | 'name_taken' | 'has_dependents' | 'dependency_cycle' | 'agent_not_active' | 'task_blocked' | 'task_claimed' | 'task_not_open' | 'task_not_in_review' | 'claim_lost' | 'execution_running' | 'delegation_cycle' | 'delegation_too_deep' | 'execution_finished' | 'improvement_in_progress' | 'delivery_in_progress' | 'webhook_paused' | 'recovery_in_progress' | 'recovery_completed' | 'request_in_progress' | 'limit_reached' | 'precondition_failed' | 'payload_too_large' | 'unsupported_media_type' | 'unknown_reference' | 'range_too_large' | 'reserved_name' | 'url_not_allowed' | 'self_delegation' | 'idempotency_key_reused' | 'rate_limited' | 'internal_error' | 'unavailable';

export type ErrorDetail = {
  /** The path of a field, such as `dependsOn.0`, or the name of a query parameter or header. */
  path: string;
  code: 'required' | 'unknown_field' | 'read_only' | 'invalid_type' | 'invalid_value' | 'not_found' | 'blocking' | 'cycle' | 'limit';
  message: string;
  /** Only for `task_claimed`: the worker that holds the claim. */
  worker?: string;
  /** Only for `task_claimed`: when the claim ends, unless it is renewed. */
  expiresAt?: string;
};

export type ErrorBody = {
  code: ErrorCode;
  /** What is wrong and what to do, for people. */
  message: string;
  /** The X-Request-Id of the response. */
  requestId: string;
  /** The problems of the request, at most 20. */
  details?: ErrorDetail[];
};

export type ErrorResponse = {
  success: false;
  error: ErrorBody;
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
  /** A worker claims a task. */
  'task.claimed': {
    event: 'task.claimed';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: ClaimEventData;
  };
  /** The claim of a worker on a task ends. */
  'task.released': {
    event: 'task.released';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: ClaimEventData;
  };
  /** Somebody comments on a task or reviews it with a comment. */
  'task.commented': {
    event: 'task.commented';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: CommentEventData;
  };
  /** A task is deleted. It has the fields of the task as it was. */
  'task.deleted': {
    event: 'task.deleted';
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
  /** The newest attempts of three deliveries to a webhook have failed and none has succeeded since, or a delivery has failed permanently. */
  'webhook.failing': {
    event: 'webhook.failing';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: WebhookEventData;
  };
  /** An attempt to a failing webhook succeeds. */
  'webhook.recovered': {
    event: 'webhook.recovered';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: WebhookEventData;
  };
  /** A caller or the service pauses a webhook. */
  'webhook.paused': {
    event: 'webhook.paused';
    /** Id of a delivery, or of an attempt. */
    deliveryId: string;
    /** The time of this attempt. */
    timestamp: string;
    data: WebhookEventData;
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
        /** Only tasks with this status. */
        status?: TaskStatus;
        /** Only tasks with this priority. */
        priority?: TaskPriority;
        /** Only tasks that are assigned to the agent with this name, which may be deleted. */
        assigned_agent?: string;
        /** Only tasks of this project. */
        project_id?: string;
        /** Only tasks that wait for a review: in `qa_review` or `up_for_review`. Excludes `status`. */
        waiting_for?: 'review';
        /** Add `blockedBy` to the tasks, as a single task has it. It takes a read of each different task that they depend on. */
        include?: 'blockedBy';
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: TaskListItem[];
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
   * Count tasks.
   *
   * Returns how many of the tasks that match all filters have each value of a field. The counts are exact at any size, and include each change as soon as its request has responded.
   *
   * - By `status` and `priority`, each value has a group, in the order of the enumeration, also without tasks.
   * - By `assigned_agent`, each agent with tasks has a group, in alphabetical order. The last group is `null`: the tasks without an agent, and those whose agent is deleted. The filter `assigned_agent` also counts the tasks of a deleted agent.
   *
   * No tasks are read. By `status` and `priority`, and with the filter `assigned_agent`, the counts take one query, as the total of a list does. By `assigned_agent` without this filter, they take two queries and one for each agent of the organization. With more than 200 agents the response is `limit_reached`. A task that is assigned to another agent during the request can then be counted for both agents or for neither.
   *
   * Required scope: `tasks:read`.
   */
  countTasks: {
    request: {
      query?: {
        /** Only tasks with this status. */
        status?: TaskStatus;
        /** Only tasks with this priority. */
        priority?: TaskPriority;
        /** Only tasks that are assigned to the agent with this name, which may be deleted. */
        assigned_agent?: string;
        /** Only tasks of this project. */
        project_id?: string;
        /** Only tasks that wait for a review: in `qa_review` or `up_for_review`. Excludes `status`. */
        waiting_for?: 'review';
        /** The field that the tasks are counted by. */
        group_by?: 'status' | 'priority' | 'assigned_agent';
      };
    };
    data: TaskCounts;
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
      query?: {
        /** Add `result`: the newest ended execution on the task, with output and quality gates. */
        include?: 'result';
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
   * Permanently deletes the task. Fails with `has_dependents` while tasks that are not `done` depend on it; `details` names them. The task is removed from `dependsOn` of dependent tasks that are `done`. Publishes `task.deleted`.
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
        category?: AgentCategory;
        /** Return only agents with this status. */
        status?: AgentStatus;
        /** Search words. Return only agents where each search word is the beginning of a word in name, displayName or description. In scripts without spaces, such as Chinese, Japanese and Thai, it can begin anywhere. */
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
   * Creates an agent. The response has four fields; get the agent for the others. Without a `model`, the agent gets the organization's current default model; a later change of the default does not change the agent. For an agent with tools, the access token also needs the scopes of these tools.
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
        /** Name of an agent, in kebab-case. */
        name: string;
      };
    };
    data: Agent;
    paged: false;
  };
  /**
   * Update an agent.
   *
   * Changes only the fields in the request. `null` clears `description`, empties `systemPrompt` or `soul`, and sets `model` to the current default model. The name cannot change. An `inactive` agent cannot be executed or delegated to, and keeps all its data. To change `capabilities`, `systemPrompt`, `soul` or `model` of an agent with tools, the access token also needs the scopes of these tools, before and after the change.
   *
   * Required scope: `agents:write`.
   */
  updateAgent: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
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
   * Permanently deletes the agent and its execution history. After the response, no read returns the agent, its executions or its metrics. The metrics of all executions keep its numbers. Its tasks keep its name. Its running executions end without a record and without an event, and their tasks return to `assigned`. A new agent with the same name starts without any of this data.
   *
   * Required scope: `agents:write`.
   */
  deleteAgent: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
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
        /** Name of an agent, in kebab-case. */
        name: string;
      };
    };
    data: AssignedSkill[];
    paged: false;
  };
  /**
   * Assign a skill.
   *
   * Assigns a skill of the catalogue to the agent. Later calls to the agent's model include the skill. If the agent already has the skill, nothing changes and the status is 201 as well. `GET /api/agents/skills` lists the skills that can be assigned. For an agent with tools, the access token also needs the scopes of these tools.
   *
   * Required scope: `agents:write`.
   */
  assignSkill: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
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
   * Removes the skill from the agent. Later calls to the agent's model no longer include it. For an agent with tools, the access token also needs the scopes of these tools.
   *
   * Required scope: `agents:write`.
   */
  unassignSkill: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
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
   * Replaces the whole soul and returns the updated agent. For an agent with tools, the access token also needs the scopes of these tools.
   *
   * Required scope: `agents:write`.
   */
  updateSoul: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
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
   * Starts an execution and responds as soon as it is accepted. The execution then runs asynchronously, by default for at most ten minutes. `GET /api/agents/{name}/executions/{id}` and the events `agent.completed` and `agent.failed` report the result. With a `taskId`, the task moves to `in_progress`. When the execution ends, the task moves to `up_for_review` if both quality gates passed, to `assigned` if the execution failed, and to `qa_review` in all other cases. If another request has changed the status of the task in the meantime, the status stays. A task with dependencies that are not `done` leads to the error `task_blocked`. Publishes `agent.spawned`.
   *
   * Required scope: `agents:execute`.
   */
  executeAgent: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
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
        /** Name of an agent, in kebab-case. */
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
        status?: ExecutionStatus;
        /** Return only executions of the agent that currently has this name. */
        agentName?: string;
        /** What to add to the executions, separated by commas. `results` adds `tokensUsed`, `tokensEstimated` and `qualityGates`, and takes no further reads. `subject` adds `inputStart`, and `taskTitle` if the access token has the scope `tasks:read`. It reads the whole input of each execution, with its context, and each different task: a read unit of the table for each 4 KB. */
        include?: ('results' | 'subject')[];
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
        /** Name of an agent, in kebab-case. */
        name: string;
      };
      query?: {
        /** Return only executions with this status. */
        status?: ExecutionStatus;
        /** Return only executions of the agent that currently has this name. */
        agentName?: string;
        /** What to add to the executions, separated by commas. `results` adds `tokensUsed`, `tokensEstimated` and `qualityGates`, and takes no further reads. `subject` adds `inputStart`, and `taskTitle` if the access token has the scope `tasks:read`. It reads the whole input of each execution, with its context, and each different task: a read unit of the table for each 4 KB. */
        include?: ('results' | 'subject')[];
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
   * Returns the execution with its input and its output. A running execution has no `output`, `tokensUsed`, `completedAt` and `durationMs`, and its quality gates are `pending`. A failed execution has an `error` and no `output`. For an execution of `qa-reviewer`, the gate `qaReview` is `skipped`.
   *
   * Required scope: `agents:read`.
   */
  getExecution: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
        name: string;
        /** Id of an execution. */
        id: string;
      };
    };
    data: Execution;
    paged: false;
  };
  /**
   * Cancel an execution.
   *
   * Ends a running execution as `failed` with the `error` `cancelled`, whether it waits, a model works on it or its quality gates judge it. Nothing but its tokens changes after the response. Work that is under way stops within 5 seconds; its result is not stored. If the execution is the one that moved its task to `in_progress`, the task moves to `assigned`. Metrics count the execution as failed. `tokensUsed` of the response has the tokens that were stored; the worker adds the others when it stops, within 5 seconds. The same happens to each running execution that it has delegated, before the response, unless `delegated` is `false`. An execution that has ended leads to 409 `execution_finished`: it stays as it is; if it was cancelled, its remaining delegated executions are cancelled first. Publishes `agent.failed` for each cancelled execution.
   *
   * Required scope: `agents:execute`.
   */
  cancelExecution: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
        name: string;
        /** Id of an execution. */
        id: string;
      };
      body?: {
        /** Whether to cancel the running executions too that it has delegated, directly or in turn. */
        delegated?: boolean;
      };
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: Execution;
    paged: false;
  };
  /**
   * Run an execution again.
   *
   * Starts a new execution with the input, the context and the task of an execution, and with the current prompt and model of the agent. The other execution stays as it is, and can have any status: one that is still running continues, and keeps its task. The response, the task and the errors are those of `POST /api/agents/{name}/execute`. A task that was deleted leads to `unknown_reference`. Of a delegated execution, the agent reads the same name of the delegating agent, and the rerun continues its chain of delegations. Publishes `agent.spawned`.
   *
   * Required scope: `agents:execute`.
   */
  rerunExecution: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
        name: string;
        /** Id of an execution. */
        id: string;
      };
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: ExecutionStarted;
    paged: false;
  };
  /**
   * Get agent metrics.
   *
   * Returns the metrics of the agent over a period. An execution counts on the UTC day on which it started. Averages and percentiles cover all executions that have ended, failed executions included. `GET /api/agents/{name}/prompts` lists the hashes for `prompt`; a hash without executions has zeros. With `series=daily`, `series` has the metrics of each day. Executions that an early version of the service ended count only without `prompt`.
   *
   * Required scope: `agents:read`.
   */
  getMetrics: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
        name: string;
      };
      query?: {
        /** The period: the last 7, 30 or 90 UTC days, today included. */
        period?: Period;
        /** Hash of a prompt of the agent. Count only executions with this prompt, to compare two prompts. */
        prompt?: string;
        /** `daily` adds `series`, the metrics of each day. */
        series?: 'daily';
      };
    };
    data: AgentMetrics;
    paged: false;
  };
  /**
   * Get execution metrics.
   *
   * Returns the metrics of all executions of the organization over a period, in total and for each day. An execution counts on the UTC day on which it started. Averages and percentiles cover all executions that have ended, failed executions included. The executions of a deleted agent that have ended stay in the numbers. Executions that version 0.2.0 or an earlier one ended do not count.
   *
   * Required scope: `agents:read`.
   */
  getExecutionMetrics: {
    request: {
      query?: {
        /** The period: the last 7, 30 or 90 UTC days, today included. */
        period?: Period;
      };
    };
    data: ExecutionMetrics;
    paged: false;
  };
  /**
   * List self-improvement passes of an agent.
   *
   * Returns the self-improvement passes of the agent, newest first, with their proof: the proposal, the answers of both prompts to each tried input, the votes of the reviewer and the decision. A pass that ended before it asked a model is not in the list.
   *
   * Required scope: `agents:read`.
   */
  listImprovements: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
        name: string;
      };
      query?: {
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: ImprovementPass[];
    paged: true;
  };
  /**
   * Improve an agent.
   *
   * Reviews recent executions for failures and slow runs, and proposes an edit of the system prompt. Tests the old and the new prompt on recent inputs, and adopts the edit only if a blind comparison, made in both orders, rates it better. Does not change the soul and the skills. Responds within 30 seconds. An agent can have one pass at a time. A pass counts as the start of an execution, and its tokens in the daily budget of the organization. `GET /api/agents/{name}/improvements` has the proof of each pass. For an agent with tools, the access token also needs the scopes of these tools.
   *
   * Required scopes: `agents:execute` and `agents:write`.
   */
  selfImproveAgent: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
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
   * Registers a webhook. It receives its subscribed events for every change after the response. The URL is checked again at each attempt: its host name must resolve to public addresses. `taskFilter` limits them to the events of some tasks. All fields but the secret can be changed later; the secret can be rotated. An organization can have at most 100 webhooks.
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
    request: {
      query?: {
        /** Add `lastSuccessAt`, `lastFailureAt` and `failingSince` to the webhooks. It takes a read of the newest 100 attempts to each. */
        include?: 'health';
      };
    };
    data: Webhook[];
    paged: false;
  };
  /**
   * Get a webhook.
   *
   * Returns the webhook without its secret. The `ETag` changes when the webhook is updated, not with each delivery. After five days in which all deliveries have failed, ten of them permanently, the service pauses the webhook, and `disabledReason` is `failing`. With `include=hours`, `hours` has the number of attempts in each of the last 24 hours, by the status of the response. An attempt counts in the hour in which it was due; if it began more than a minute late, in the hour in which it began.
   *
   * Required scope: `webhooks:read`.
   */
  getWebhook: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
      };
      query?: {
        /** Add `hours` to the webhook. It reads the attempts since the service last stored their numbers, which it does after about 256 deliveries. */
        include?: 'hours';
      };
    };
    data: WebhookDetail;
    paged: false;
  };
  /**
   * Update a webhook.
   *
   * Changes only the fields in the request. `null` clears `description`, `taskFilter` or `maxPerSecond`. The rules for `url` are those of a registration. A new `url` gets all further attempts, also the waiting retries of earlier events; attempts that have already begun, for up to 30 seconds, go to the old one. `events` replaces all subscribed events. The webhook receives a new one for every change after the response, and none for earlier changes. A removed event is not sent for changes that are not yet published; deliveries that are already published, and their retries, are still sent. `taskFilter` replaces the whole filter, for every change after the response; an event is compared with the filter that the webhook had at the time of the event. `maxPerSecond` applies to all attempts that begin after the response, also to waiting ones. The history and the secret stay; to replace the secret, rotate it.
   *
   * `active: false` pauses the webhook. Until `active: true` resumes it, nothing is sent, except test events and attempts that have already begun, for up to 30 seconds. Events of a pause are skipped: the webhook never receives them. Retries and redeliveries that are due in a pause, and first attempts that are late, wait for its end and are sent right after it. A webhook can be paused 50 times in 90 days. `active: true` also resumes a webhook that the service has paused because it failed. A pause publishes `webhook.paused`.
   *
   * Required scope: `webhooks:write`.
   */
  updateWebhook: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
      };
      body?: WebhookPatch;
      /** Makes the change only if the resource still has this ETag; otherwise the status is 412. Separate several ETags with commas; `*` matches any. */
      ifMatch?: string | undefined;
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
      /** Makes the change only if the resource still has this ETag; otherwise the status is 412. Separate several ETags with commas; `*` matches any. */
      ifMatch?: string | undefined;
    };
    data: undefined;
    paged: false;
  };
  /**
   * Rotate the secret of a webhook.
   *
   * Replaces the secret of the webhook; a webhook without a secret gets its first one. During the overlap, deliveries have two signatures: `X-Service-Signature` that of the new secret, `X-Service-Signature-Previous` that of the replaced one, and `webhook-signature` both. A rotation during an overlap ends the secret before the replaced one at once. Send an Idempotency-Key: a request that is repeated without one is another rotation, which replaces the new secret by itself. Attempts that have already begun, for up to 30 seconds, are signed as before the rotation.
   *
   * Required scope: `webhooks:write`.
   */
  rotateWebhookSecret: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
      };
      body: SecretRotation;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: SecretRotated;
    paged: false;
  };
  /**
   * Send a test event.
   *
   * Sends a synthetic event once, signed and recorded like any other delivery, but never retried. It is also sent to a paused webhook. If it succeeds, a webhook that the service has paused because it failed is resumed, and `webhook.recovered` is published if the webhook was failing. The status of the response is 200 whatever the receiver responds: `httpStatus` is the status of the receiver, 0 if it did not respond, and `error` says why the attempt failed. Takes at most 10 seconds.
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
   * Returns the delivery attempts of the webhook, newest first by the time when they were due. An attempt that began a minute or more after that has the place of the time when it began. For the events of the webhook, each once with the state of its delivery, use `GET /api/webhooks/:id/events`. Attempts are stored for 90 days. `redelivery` is true for a retry and for a redelivery.
   *
   * An attempt must match all filters. A filtered list reads at most 10,000 attempts, whether they match or not, and `pagination.total` is the exact number of those that match. Without `since` it covers the newest 10,000 attempts, or the newest 10,000 up to `until`. With `since` it covers the whole range. If the range has more than 10,000 attempts, the response is 422 `range_too_large`, and `details` names a later `since`. Attempts that ended up to two minutes outside the range can count too. Without filters, the list has all attempts and their exact number.
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
        /** Return only attempts that succeeded (`delivered`) or failed (`failed`). */
        status?: 'delivered' | 'failed';
        /** Return only attempts to deliver this event. */
        event?: EventName;
        /** Return only attempts that ended at this time or later. */
        since?: string;
        /** Return only attempts that ended at this time or earlier. */
        until?: string;
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
   * Get a delivery.
   *
   * Returns the state of a delivery of the last 90 days, and what was sent and received in each attempt. Bodies and responses are kept for 7 days, unless the operator has set another number; after that they are null. `deliveryId` must be the `deliveryId` of an attempt, not the `id` of a retry. The response body is what the receiver sent: treat it as untrusted text.
   *
   * Required scope: `webhooks:read`.
   */
  getDelivery: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
        /** Id of a delivery, or of an attempt. */
        deliveryId: string;
      };
    };
    data: Delivery;
    paged: false;
  };
  /**
   * Redeliver a delivery.
   *
   * Sends a delivery of the last 90 days again, whether it succeeded or failed, or a failed one before its next retry. The attempt begins within two seconds after the response, unless the rate of the webhook holds it back. It has the same `deliveryId`, event and data, the next attempt number, and `redelivery: true` in the list of deliveries.
   *
   * A redelivery of a delivery that has ended is one attempt, and is not retried if it fails. One of a delivery that is `retrying` takes the place of the next retry, and the retry schedule begins again: it costs no retry. It is possible if the next retry is more than 15 seconds away and the last attempt ended more than 30 seconds ago. A delivery that still has no attempt two minutes after the event gets its first attempt, which is retried as usual.
   *
   * Otherwise, while an attempt is due or running, the response is 409 `delivery_in_progress`, and `Retry-After` has the seconds after which the request can succeed; while the webhook is paused, it is 409 `webhook_paused`. `deliveryId` must be the `deliveryId` of an attempt, not the `id` of a retry. A test event, an event that the webhook skipped, and an event that is no longer stored, lead to 404. Send an Idempotency-Key: a request that is repeated without one can be another redelivery.
   *
   * Required scope: `webhooks:write`.
   */
  redeliverDelivery: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
        /** Id of a delivery, or of an attempt. */
        deliveryId: string;
      };
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: {
      /** Id of a delivery, or of an attempt. */
      deliveryId: string;
      /** The state of the delivery: its new attempt is due. */
      state: 'pending';
      /** The number of the new attempt. */
      attempt: number;
    };
    paged: false;
  };
  /**
   * List events.
   *
   * Returns the events of the last 90 days, newest first, whether a webhook is subscribed to them or not. For the next page, send `pagination.next` as `before`; it is null at the end of the list.
   *
   * To follow the log, send `after`. The response then has the oldest events after it, oldest first, and `pagination.next` is the value of `after` for the next request, also if the page is empty. To begin with the oldest event, send `ev_` and 26 zeros; with `since`, it begins at that time. An event is listed 750 ms after it occurred or later. An event that is published late is listed when it is published, although its id is older. So a follower that continues with each `next` misses no event, but can get an event twice, with the same id: ignore ids that you know.
   *
   * An event must match all filters. A request reads at most 10,000 events, whether they match or not. If few match, a page can have fewer events than `limit`, or none, although the list continues at `next`.
   *
   * Required scope: `webhooks:read`.
   */
  listEvents: {
    request: {
      query?: {
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Return the oldest events after this event or this `next`, oldest first. Excludes `before`. */
        after?: string;
        /** Return the newest events before this event, newest first. */
        before?: string;
        /** Return only events of this execution. */
        execution_id?: string;
        /** Return only events with this name. */
        event?: EventName;
        /** Return only events of this task, and of executions on this task. */
        task_id?: string;
        /** Return only events that occurred at this time or later. */
        since?: string;
        /** Return only events that occurred at this time or earlier. */
        until?: string;
      };
    };
    data: Event[];
    paged: 'cursor';
  };
  /**
   * Get an event.
   *
   * Returns an event of the last 90 days with its deliveries: one for each webhook that was subscribed to it, or that it was sent to. Deliveries of deleted webhooks are left out.
   *
   * Required scope: `webhooks:read`.
   */
  getEvent: {
    request: {
      params: {
        /** Id of an event. */
        id: string;
      };
    };
    data: EventDetail;
    paged: false;
  };
  /**
   * Get the organization and the scopes of the access token.
   *
   * Returns what the service knows about the access token of the request: its organization, its name and its scopes, and whether agents are only simulated. It needs no read beyond that of the token, so it is the cheapest request to check a token with.
   *
   * Required scope: none; any access token is accepted.
   */
  getMe: {
    request: {};
    data: Me;
    paged: false;
  };
  /**
   * Check the health of the service.
   *
   * Confirms that the settings of the service are valid and that it can read its table. Otherwise the response is 503 `unavailable`. A result counts for 5 seconds.
   */
  health: {
    request: {};
    data: {
      status: 'ok';
    };
    paged: false;
  };
  /**
   * List the comments of a task.
   *
   * Returns the comments of the task, the oldest first. `pagination.total` is exact.
   *
   * Required scope: `tasks:read`.
   */
  listComments: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
      query?: {
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: Comment[];
    paged: true;
  };
  /**
   * Comment on a task.
   *
   * Adds a comment, in the name of the access token. It changes no field of the task, neither its version nor `updatedAt`. A task has at most 1,000 comments. Publishes `task.commented`.
   *
   * Required scope: `tasks:write`.
   */
  commentOnTask: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
      body: NewComment;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: Comment;
    paged: false;
  };
  /**
   * Change a comment.
   *
   * Changes the text of a comment. Only its author can: the access token that it was written with. Publishes no event.
   *
   * Required scope: `tasks:write`.
   */
  updateComment: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
        /** Id of a comment. */
        commentId: string;
      };
      body: NewComment;
    };
    data: Comment;
    paged: false;
  };
  /**
   * Delete a comment.
   *
   * Permanently deletes a comment. Only its author can: the access token that it was written with. The history of the task keeps the start of the text. Publishes no event.
   *
   * Required scope: `tasks:write`.
   */
  deleteComment: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
        /** Id of a comment. */
        commentId: string;
      };
    };
    data: undefined;
    paged: false;
  };
  /**
   * Get the history of a task.
   *
   * Returns what has happened to the task, the newest first: one entry for each action, with the fields that it has changed and who has done it. An entry appears about a second after its action. Entries are kept for 365 days; the newest 1,000 are shown, and `pagination.total` is their exact number. The history begins with the first change after the update to version 0.3.0, and ends with the task: afterwards its events are in the event log.
   *
   * Required scope: `tasks:read`.
   */
  getTaskHistory: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
      query?: {
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: HistoryEntry[];
    paged: true;
  };
  /**
   * Get the history of an agent.
   *
   * Returns what has changed of the agent, the newest first, as the history of a task has it. Prompts and souls are named by their hashes. An assigned or removed skill is a change of `skills`. An entry appears about a second after its change; the newest 1,000 of the last 365 days are shown.
   *
   * Required scope: `agents:read`.
   */
  getAgentHistory: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
        name: string;
      };
      query?: {
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: HistoryEntry[];
    paged: true;
  };
  /**
   * List prompts of an agent.
   *
   * Returns the current and all former system prompts of the agent, newest first, without their texts. A prompt that the agent got several times has an entry for each time. Changes of other fields have no entry.
   *
   * Required scope: `agents:read`.
   */
  listPrompts: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
        name: string;
      };
      query?: {
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: PromptListItem[];
    paged: true;
  };
  /**
   * Get a prompt of an agent.
   *
   * Returns a current or former system prompt of the agent with its text. The other fields are those of its newest entry in the list. `previousPromptHash` and `newPromptHash` of a self-improvement pass, and `promptHash` of an execution, are valid hashes.
   *
   * Required scope: `agents:read`.
   */
  getPrompt: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
        name: string;
        /** Hash of a system prompt: the SHA-256 of its UTF-8 bytes. */
        hash: string;
      };
    };
    data: Prompt;
    paged: false;
  };
  /**
   * Restore a prompt of an agent.
   *
   * Makes a former system prompt the current one, and returns the updated agent. Changes no other field. Restoring the current prompt changes nothing. For an agent with tools, the access token also needs the scopes of these tools.
   *
   * Required scope: `agents:write`.
   */
  restorePrompt: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
        name: string;
        /** Hash of a system prompt: the SHA-256 of its UTF-8 bytes. */
        hash: string;
      };
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
      /** Makes the change only if the resource still has this ETag; otherwise the status is 412. Separate several ETags with commas; `*` matches any. */
      ifMatch?: string | undefined;
    };
    data: Agent;
    paged: false;
  };
  /**
   * Send missed events again.
   *
   * Sends all events of a time range that the webhook did not receive, oldest first: at most 10,000, and at most `ratePerSecond`. `since` and `until` compare `occurredAt` of the event. A delivery is left out if an attempt is running, was made in the last 30 seconds, or is due in the next 15, and so is an event that is delivered in the meantime. The last 90 days can be recovered.
   *
   * An event whose attempts failed keeps its `deliveryId` and gets the next attempt numbers. A failed attempt of the recovery has the normal retry schedule; the attempt of a `retrying` delivery takes the place of its next retry. The first attempt begins within two seconds after the response. If no event matches, there is no recovery. The recovery continues after any interruption, and sends no event twice. It waits while the webhook is paused, and ends when the webhook is deleted.
   *
   * The range can have at most 20,000 events of the organization, subscribed or not. A larger range, or more than 10,000 events to send, lead to 422 `range_too_large`, and `details` names an `until` that works. While a recovery of the webhook is running, the response is 409 `recovery_in_progress`. For a paused webhook it is 409 `webhook_paused`. A dry run is possible in both cases.
   *
   * Required scope: `webhooks:write`.
   */
  recoverWebhook: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
      };
      body: {
        /** The time of the first event. */
        since: string;
        /** The time of the last event; by default the time of the request. */
        until?: string;
        /** Only these events; by default all. Of `skipped` and `never_sent`, only subscribed events are sent. */
        events?: EventName[];
        /** `exhausted`: all attempts failed. `skipped`: the webhook was paused. `retrying`: the last attempt failed, and its retry is not due soon. `never_sent`: the webhook was not subscribed yet, or the message of the first attempt is lost. Default: all but `never_sent`. */
        include?: ('exhausted' | 'skipped' | 'retrying' | 'never_sent')[];
        /** The maximum number of events that are sent in a second. A smaller `maxPerSecond` of the webhook counts. Default: 10. */
        ratePerSecond?: number;
        /** Only count the events, and send nothing. */
        dryRun?: boolean;
      };
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: {
      /** Number of events that the recovery sends. */
      matched: number;
      /** The number of these events by kind. */
      matchedByKind: {
        exhausted: number;
        skipped: number;
        retrying: number;
        never_sent: number;
      };
      /** The number of the other events of the range. `delivered`: an attempt succeeded. `inProgress`: an attempt is due soon or running, or has just ended. `notIncluded`: of a kind that is not in `include`, or not in `events`. `notSubscribed`: not subscribed. `filtered`: left out by `taskFilter`. */
      leftOut: {
        delivered: number;
        inProgress: number;
        notIncluded: number;
        notSubscribed: number;
        filtered: number;
      };
      /** Id of the recovery; absent with `dryRun`, and if no event matched. */
      recoveryId?: string;
    };
    paged: false;
  };
  /**
   * Get a recovery.
   *
   * Returns a recovery with its present progress. Recoveries are stored for 90 days. `sent` can differ from `matched`: an event that is delivered in the meantime is not sent, and one whose retries end in the meantime is.
   *
   * Required scope: `webhooks:read`.
   */
  getRecovery: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
        /** Id of a recovery. */
        recoveryId: string;
      };
    };
    data: {
      /** Id of a recovery. */
      id: string;
      /** Id of a webhook. */
      webhookId: string;
      /** `completed`: one attempt was made for each event that was sent. Retries of failed attempts may follow. `cancelled`: no further attempt is made. */
      state: 'running' | 'completed' | 'cancelled';
      /** The same as `state`, for clients of 0.2. */
      status: 'running' | 'completed' | 'cancelled';
      since: string;
      until: string;
      events?: EventName[];
      include: ('exhausted' | 'skipped' | 'retrying' | 'never_sent')[];
      /** Absent for a recovery that 0.2 began. */
      ratePerSecond?: number;
      /** True if the service has begun it, because of `autoRecover`; absent otherwise. */
      auto?: boolean;
      /** Number of events that matched when the recovery began. */
      matched: number;
      /** Number of events that were sent, or will be within about half a minute. */
      sent: number;
      /** Number of these events whose first attempt by the recovery succeeded. */
      delivered: number;
      /** Number of these events whose first attempt by the recovery failed. */
      failed: number;
      createdAt: string;
      completedAt?: string;
      cancelledAt?: string;
    };
    paged: false;
  };
  /**
   * List the recoveries of a webhook.
   *
   * Returns the recoveries of the last 90 days, newest first, each with its present progress.
   *
   * Required scope: `webhooks:read`.
   */
  listRecoveries: {
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
    data: ({
      /** Id of a recovery. */
      id: string;
      /** Id of a webhook. */
      webhookId: string;
      /** `completed`: one attempt was made for each event that was sent. Retries of failed attempts may follow. `cancelled`: no further attempt is made. */
      state: 'running' | 'completed' | 'cancelled';
      /** The same as `state`, for clients of 0.2. */
      status: 'running' | 'completed' | 'cancelled';
      since: string;
      until: string;
      events?: EventName[];
      include: ('exhausted' | 'skipped' | 'retrying' | 'never_sent')[];
      /** Absent for a recovery that 0.2 began. */
      ratePerSecond?: number;
      /** True if the service has begun it, because of `autoRecover`; absent otherwise. */
      auto?: boolean;
      /** Number of events that matched when the recovery began. */
      matched: number;
      /** Number of events that were sent, or will be within about half a minute. */
      sent: number;
      /** Number of these events whose first attempt by the recovery succeeded. */
      delivered: number;
      /** Number of these events whose first attempt by the recovery failed. */
      failed: number;
      createdAt: string;
      completedAt?: string;
      cancelledAt?: string;
    })[];
    paged: true;
  };
  /**
   * Cancel a recovery.
   *
   * Stops a recovery: two seconds after the response, no attempt of it begins any more. Attempts that were made stay, with their retries. An event that was not sent yet is missed as before, and a delivery that was retrying has its next retry again. Another recovery can begin about a minute later; until then it is 409 `recovery_in_progress`.
   *
   * A recovery that is completed leads to 409 `recovery_completed`. A cancelled one can be cancelled again, which changes nothing.
   *
   * Required scope: `webhooks:write`.
   */
  cancelRecovery: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
        /** Id of a recovery. */
        recoveryId: string;
      };
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: {
      /** Id of a recovery. */
      id: string;
      /** Id of a webhook. */
      webhookId: string;
      /** `completed`: one attempt was made for each event that was sent. Retries of failed attempts may follow. `cancelled`: no further attempt is made. */
      state: 'running' | 'completed' | 'cancelled';
      /** The same as `state`, for clients of 0.2. */
      status: 'running' | 'completed' | 'cancelled';
      since: string;
      until: string;
      events?: EventName[];
      include: ('exhausted' | 'skipped' | 'retrying' | 'never_sent')[];
      /** Absent for a recovery that 0.2 began. */
      ratePerSecond?: number;
      /** True if the service has begun it, because of `autoRecover`; absent otherwise. */
      auto?: boolean;
      /** Number of events that matched when the recovery began. */
      matched: number;
      /** Number of events that were sent, or will be within about half a minute. */
      sent: number;
      /** Number of these events whose first attempt by the recovery succeeded. */
      delivered: number;
      /** Number of these events whose first attempt by the recovery failed. */
      failed: number;
      createdAt: string;
      completedAt?: string;
      cancelledAt?: string;
    };
    paged: false;
  };
  /**
   * List steps of an execution.
   *
   * Returns the calls of the model and of tools, then the quality gates, in the order of their numbers. An agent without tools has one call of the model. A step is in the list as soon as it starts; a quality gate, and the only call of an agent without tools, can appear later. A step that a lost worker had started keeps its number: the next worker runs it again. With `include=messages`, calls of models have the messages that they received.
   *
   * Required scope: `agents:read`.
   */
  listSteps: {
    request: {
      params: {
        /** Name of an agent, in kebab-case. */
        name: string;
        /** Id of an execution. */
        id: string;
      };
      query?: {
        /** What to add to the steps. `messages` adds what each call of a model received. It reads all that is stored of the execution: a read unit of the table for each 4 KB. */
        include?: 'messages'[];
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Number of items to skip, starting with the newest. */
        offset?: number;
      };
    };
    data: ({
      /** Number of the step, from 1. */
      number: number;
      /** `model`: a call of the model of the agent. `tool`: a call of a tool. `gate`: a quality gate. */
      kind: 'model' | 'tool' | 'gate';
      /** The model, the tool, or the quality gate: `selfTest` or `qaReview`. */
      name: string;
      /** The arguments of a tool as JSON, or the input of the execution for the first call of the model. At most 4 KiB. */
      input?: string;
      /** The text of the model, the result of a tool as the model got it, or what a quality gate answered. At most 4 KiB. */
      output?: string;
      /** Whether `input` or `output` is only the start of a longer text. */
      truncated: boolean;
      /** Why the step failed. A model gets the error of a tool as its result. */
      error?: string;
      /** Tokens of a call of a model, if they are known. */
      tokensUsed?: number;
      /** Absent if an earlier version of the service ran the step. */
      startedAt?: string;
      /** Milliseconds; absent while the step runs. */
      durationMs?: number;
      /** What the call of a model received: the system message, and the messages that are new since the call before. Only with `include=messages`. Absent for tools, for a call of which nothing is stored yet, for the gates of a failed execution, and for calls of earlier versions of the service. */
      messages?: ({
        /** `assistant`: what the model itself has answered before. `tool`: the result of a call of a tool. */
        role: 'system' | 'user' | 'assistant' | 'tool';
        /** Of a `system` message: the hash of the system prompt in it, of the agent or, in the gate `qaReview`, of `qa-reviewer`. `GET /api/agents/{name}/prompts/{hash}` returns its text. */
        promptHash?: string;
        /** The parts of the message, with an empty line between them. */
        parts?: {
          /** The part as the model got it, with its tags. At most 4 KiB. */
          text: string;
          /** Number of characters of the whole part; only present if `text` is only its start. */
          length?: number;
        }[];
        /** Of the roles `assistant` and `tool`: the number of the step whose output the message has. */
        step?: number;
      })[];
    })[];
    paged: true;
  };
  /**
   * List ready tasks.
   *
   * Returns the tasks that a worker can take now: those in `backlog` or `assigned` whose dependencies are all `done`, that nobody has claimed, and that are not stopped. The highest priority comes first, and of the same priority the oldest task. Each task was read for the response, so none of them was blocked or claimed at that moment. A task that becomes ready by its own change is there at once; one whose last dependency ends, within five seconds.
   *
   * There is no total and no offset, and a list that does not fit into a response of 6 MB ends early: a worker takes one, with `POST /api/kanban-tasks/claim-next` or by its id.
   *
   * Required scope: `tasks:read`.
   */
  listReadyTasks: {
    request: {
      query?: {
        /** Only tasks that are assigned to the agent with this name. */
        assigned_agent?: string;
        /** Only tasks of this project. */
        project_id?: string;
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
      };
    };
    data: Task[];
    paged: false;
  };
  /**
   * Claim a task.
   *
   * Gives the task to one worker, until the claim is released, expires or is taken back. The task is `in_progress` meanwhile. Of several workers that claim a task at the same time exactly one gets it. The others get `task_claimed`, whose first detail has the `worker` and `expiresAt`.
   *
   * - Only a task in `backlog` or `assigned` can be claimed, not one that is stopped, and not while an execution works on it.
   * - The claim lasts for `leaseSeconds`. From `expiresAt` on it has no force: another worker can claim the task at once. Renew it before.
   * - While a claim lasts, nobody can change `status` or `description`, start an execution on the task or delete it; a PATCH with its `claimId` can.
   * - With an `Idempotency-Key`, a repeated request gets the recorded response. It shows the claim as it was: whether it still lasts, its `expiresAt` and the task say.
   *
   * Publishes `task.claimed` and `task.status_changed`.
   *
   * Required scope: `tasks:write`.
   */
  claimTask: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
      body: NewClaim;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: ClaimedTask;
    paged: false;
  };
  /**
   * Take a task back.
   *
   * Ends the claim of whatever worker, as a person does it: the task gets the status before the claim, and the worker gets `claim_lost`. It also frees a task that is stopped. Fails with `not_found` if the task has no claim and is not stopped. Publishes `task.released` for a claim.
   *
   * Required scope: `tasks:write`.
   */
  takeBackTask: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
    };
    data: Task;
    paged: false;
  };
  /**
   * Claim the next ready task.
   *
   * Claims a ready task: one of the first 20 of the highest priority, so that many workers do not fight for the same one. Tasks of agents with `autoRun` are left out, unless `assignedAgent` names the agent. The response is `null` if no task is ready. With an `Idempotency-Key`, a repeated request gets the recorded response, also `null`.
   *
   * Required scope: `tasks:write`.
   */
  claimNextTask: {
    request: {
      body: NextClaim;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: ClaimedTask | null;
    paged: false;
  };
  /**
   * Renew a claim.
   *
   * Extends the claim, from now on, and stores a note. It changes neither the version nor `updatedAt` of the task, and publishes no event. `claim_lost` if the claim has ended: stop the work, another worker may have the task.
   *
   * Required scope: `tasks:write`.
   */
  renewClaim: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
      body: ClaimRenewal;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: Task;
    paged: false;
  };
  /**
   * Release a claimed task.
   *
   * Ends the claim. The task gets the given status, or the one before the claim if the worker has set no other. After three releases in a row with `failed`, an open task is `stopped`: it is not offered until somebody changes its status, assigns it or takes it back. Publishes `task.released`, and `task.status_changed` if the status changes.
   *
   * Required scope: `tasks:write`.
   */
  releaseTask: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
      body: ClaimRelease;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: Task;
    paged: false;
  };
  /**
   * Review a task.
   *
   * Accepts the work on a task in `qa_review` or `up_for_review`, or sends it back. `accept` moves it to `done`; `send_back` to `assigned`, or to `backlog` if it has no agent, and an agent with `autoRun` begins again.
   *
   * The comment becomes a comment of the task, with `review`. Further executions on the task, and workers that claim it, get the comments of its reviews, so that they know what is missing. A task that a worker has claimed, or that an execution works on, cannot be reviewed.
   *
   * Publishes `task.status_changed`, `task.completed` if the task is accepted, and `task.commented` for the comment.
   *
   * Required scope: `tasks:write`.
   */
  reviewTask: {
    request: {
      params: {
        /** Id of a task. */
        id: string;
      };
      body: Review;
      /** A unique key that makes it safe to repeat the request. For 24 hours, a duplicate request with the same key gets the response of the first request. */
      idempotencyKey?: string | undefined;
    };
    data: Task;
    paged: false;
  };
  /**
   * Search tasks.
   *
   * Returns the tasks whose title has all words of `q`, newest first. For the next page, send `pagination.next` as `before`; it is null at the end.
   *
   * Each word of `q` must be the beginning of a word of the title, in any letter case. In scripts without spaces, such as Chinese, Japanese and Thai, it can begin anywhere. A `q` without letters and digits matches no task.
   *
   * A new task or title is found about a second after the response to its request. The tasks in the response are current: none has lost a word or a filter meanwhile.
   *
   * A request looks at the titles of at most 10,000 tasks, whether they match or not. If few match, a page can have fewer tasks than `limit`, or none, although the list continues at `next`.
   *
   * Required scope: `tasks:read`.
   */
  searchTasks: {
    request: {
      query: {
        /** Search words, each the beginning of a word of the title. */
        q: string;
        /** Only tasks with this status. */
        status?: TaskStatus;
        /** Only tasks with this priority. */
        priority?: TaskPriority;
        /** Only tasks that are assigned to the agent with this name, which may be deleted. */
        assigned_agent?: string;
        /** Only tasks of this project. */
        project_id?: string;
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Return the newest tasks before this task, or before this `next`. */
        before?: string;
      };
    };
    data: Task[];
    paged: 'cursor';
  };
  /**
   * List the events of a webhook.
   *
   * Returns the events of the last 90 days that the webhook receives, newest first, each once and with the state of its delivery, however many attempts it had. Use `GET /api/webhooks/:id/deliveries` for the single attempts. For the next page, send `pagination.next` as `before`; it is null at the end of the list.
   *
   * An event is listed if the webhook was subscribed to it when it occurred and its filter let it pass, also if the webhook was paused then, or if an attempt was made or requested, as by a recovery. Test events are not listed: they are no events of the log. Without an attempt, events from before the current subscription, and events to which the webhook is no longer subscribed, are not listed either.
   *
   * An event must match all filters. A request reads at most 2,000 events of the log, whether they match or not. If few match, a page can have fewer events than `limit`, or none, although the list continues at `next`.
   *
   * Required scope: `webhooks:read`.
   */
  listWebhookEvents: {
    request: {
      params: {
        /** Id of a webhook. */
        id: string;
      };
      query?: {
        /** Page size. A value above 100 counts as 100. */
        limit?: number;
        /** Return the newest events before this event, or before this `next`. */
        before?: string;
        /** Return only events whose delivery has this state. */
        state?: DeliveryState;
        /** Return only events with this name. */
        event?: EventName;
        /** Return only events of this task, and of executions on this task. */
        task_id?: string;
        /** Return only events that occurred at this time or later. */
        since?: string;
        /** Return only events that occurred at this time or earlier. */
        until?: string;
      };
    };
    data: EventOfWebhook[];
    paged: 'cursor';
  };
};

/** The method and the path of each operation. */
export const operations = {
  listTasks: { method: 'GET', path: '/api/kanban-tasks' },
  createTask: { method: 'POST', path: '/api/kanban-tasks' },
  countTasks: { method: 'GET', path: '/api/kanban-tasks/counts' },
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
  cancelExecution: { method: 'POST', path: '/api/agents/{name}/executions/{id}/cancel' },
  rerunExecution: { method: 'POST', path: '/api/agents/{name}/executions/{id}/rerun' },
  getMetrics: { method: 'GET', path: '/api/agents/{name}/metrics' },
  getExecutionMetrics: { method: 'GET', path: '/api/agents/executions/metrics' },
  listImprovements: { method: 'GET', path: '/api/agents/{name}/improvements' },
  selfImproveAgent: { method: 'POST', path: '/api/agents/{name}/self-improve' },
  listSkillCatalogue: { method: 'GET', path: '/api/agents/skills' },
  registerWebhook: { method: 'POST', path: '/api/webhooks/register' },
  listWebhooks: { method: 'GET', path: '/api/webhooks' },
  getWebhook: { method: 'GET', path: '/api/webhooks/{id}' },
  updateWebhook: { method: 'PATCH', path: '/api/webhooks/{id}' },
  deleteWebhook: { method: 'DELETE', path: '/api/webhooks/{id}' },
  rotateWebhookSecret: { method: 'POST', path: '/api/webhooks/{id}/rotate-secret' },
  testWebhook: { method: 'POST', path: '/api/webhooks/{id}/test' },
  listDeliveries: { method: 'GET', path: '/api/webhooks/{id}/deliveries' },
  getDelivery: { method: 'GET', path: '/api/webhooks/{id}/deliveries/{deliveryId}' },
  redeliverDelivery: { method: 'POST', path: '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver' },
  listEvents: { method: 'GET', path: '/api/webhooks/events' },
  getEvent: { method: 'GET', path: '/api/webhooks/events/{id}' },
  getMe: { method: 'GET', path: '/api/me' },
  health: { method: 'GET', path: '/health' },
  listComments: { method: 'GET', path: '/api/kanban-tasks/{id}/comments' },
  commentOnTask: { method: 'POST', path: '/api/kanban-tasks/{id}/comments' },
  updateComment: { method: 'PATCH', path: '/api/kanban-tasks/{id}/comments/{commentId}' },
  deleteComment: { method: 'DELETE', path: '/api/kanban-tasks/{id}/comments/{commentId}' },
  getTaskHistory: { method: 'GET', path: '/api/kanban-tasks/{id}/history' },
  getAgentHistory: { method: 'GET', path: '/api/agents/{name}/history' },
  listPrompts: { method: 'GET', path: '/api/agents/{name}/prompts' },
  getPrompt: { method: 'GET', path: '/api/agents/{name}/prompts/{hash}' },
  restorePrompt: { method: 'POST', path: '/api/agents/{name}/prompts/{hash}/restore' },
  recoverWebhook: { method: 'POST', path: '/api/webhooks/{id}/recover' },
  getRecovery: { method: 'GET', path: '/api/webhooks/{id}/recoveries/{recoveryId}' },
  listRecoveries: { method: 'GET', path: '/api/webhooks/{id}/recoveries' },
  cancelRecovery: { method: 'POST', path: '/api/webhooks/{id}/recoveries/{recoveryId}/cancel' },
  listSteps: { method: 'GET', path: '/api/agents/{name}/executions/{id}/steps' },
  listReadyTasks: { method: 'GET', path: '/api/kanban-tasks/ready' },
  claimTask: { method: 'POST', path: '/api/kanban-tasks/{id}/claim' },
  takeBackTask: { method: 'DELETE', path: '/api/kanban-tasks/{id}/claim' },
  claimNextTask: { method: 'POST', path: '/api/kanban-tasks/claim-next' },
  renewClaim: { method: 'POST', path: '/api/kanban-tasks/{id}/claim/renew' },
  releaseTask: { method: 'POST', path: '/api/kanban-tasks/{id}/claim/release' },
  reviewTask: { method: 'POST', path: '/api/kanban-tasks/{id}/review' },
  searchTasks: { method: 'GET', path: '/api/kanban-tasks/search' },
  listWebhookEvents: { method: 'GET', path: '/api/webhooks/{id}/events' },
} as const;

/** The names of all events. */
export const eventNames = [
  'task.created',
  'task.completed',
  'task.status_changed',
  'task.claimed',
  'task.released',
  'task.commented',
  'task.deleted',
  'agent.spawned',
  'agent.completed',
  'agent.failed',
  'webhook.failing',
  'webhook.recovered',
  'webhook.paused',
] as const satisfies readonly EventName[];
