import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import { Actor } from '../contract/actors.ts';
import { AgentMetrics, DailyMetrics, ExecutionMetrics, Period } from '../contract/agents/agent-metrics.ts';
import {
  Agent,
  AgentCategory,
  AgentCreated,
  AgentListItem,
  AgentPatch,
  AgentStatus,
  AssignedSkill,
  NewAgent,
  SkillAssignment,
  SoulUpdate,
} from '../contract/agents/agents.ts';
import {
  Improvement,
  ImprovementDecision,
  ImprovementPass,
  ImprovementProposal,
  ImprovementTrial,
  ImprovementVote,
  NewImprovement,
} from '../contract/agents/improvements.ts';
import { Prompt, PromptListItem, PromptSource } from '../contract/agents/prompts.ts';
import { Skill } from '../contract/agents/skills.ts';
import { detailCodes, errorStatus } from '../contract/errors.ts';
import {
  Delegation,
  DelegationStatus,
  Execution,
  ExecutionListItem,
  ExecutionStarted,
  ExecutionStatus,
  NewDelegation,
  NewExecution,
} from '../contract/executions/executions.ts';
import { QualityGates } from '../contract/executions/quality-gates.ts';
import { Me } from '../contract/me.ts';
import { CursorPagination, Pagination, type Schema } from '../contract/shapes.ts';
import { Claim, ClaimEndReason, Stopped } from '../contract/tasks/claims.ts';
import { Comment, NewComment } from '../contract/tasks/comments.ts';
import { FieldChange, HistoryEntry, HistoryKind } from '../contract/tasks/history.ts';
import { ClaimedTask, ClaimRelease, ClaimRenewal, NewClaim, NextClaim } from '../contract/tasks/task-claims.ts';
import { Review, ReviewDecision } from '../contract/tasks/task-reviews.ts';
import {
  NewTask,
  Task,
  TaskCounts,
  TaskCreated,
  TaskDetail,
  TaskGroup,
  TaskListItem,
  TaskPatch,
  TaskPriority,
  TaskReference,
  TaskResult,
  TaskStatus,
} from '../contract/tasks/tasks.ts';
import { Event, EventDelivery, EventDetail } from '../contract/webhooks/event-log.ts';
import {
  ClaimEventData,
  CommentEventData,
  EventName,
  ExecutionEventData,
  TaskEventData,
  WebhookEventData,
} from '../contract/webhooks/events.ts';
import { EventOfWebhook } from '../contract/webhooks/webhook-events.ts';
import {
  AttemptDetail,
  AttemptHour,
  Delivery,
  DeliveryRecord,
  DeliveryState,
  NewWebhook,
  SecretRotated,
  SecretRotation,
  TestEvent,
  TestResult,
  Webhook,
  WebhookDetail,
  WebhookPatch,
  WebhookRegistered,
} from '../contract/webhooks/webhooks.ts';

/** An object of the document. */
export type Json = { [key: string]: unknown };

/** The schemas of request bodies. They reject unknown fields: `lib/http/middleware/parse.ts` does, not the valibot schemas. */
const requestSchemas = {
  NewTask,
  TaskPatch,
  NewClaim,
  NextClaim,
  ClaimRenewal,
  ClaimRelease,
  Review,
  NewComment,
  NewAgent,
  AgentPatch,
  SoulUpdate,
  SkillAssignment,
  NewExecution,
  NewDelegation,
  NewImprovement,
  NewWebhook,
  WebhookPatch,
  SecretRotation,
  TestEvent,
};

/**
 * The schemas of responses and those in both directions. They allow unknown fields, so that responses can get new ones.
 */
const responseSchemas = {
  TaskStatus,
  TaskPriority,
  Claim,
  ClaimEndReason,
  Stopped,
  ReviewDecision,
  Task,
  ClaimedTask,
  TaskCreated,
  TaskReference,
  TaskResult,
  TaskDetail,
  TaskListItem,
  TaskGroup,
  TaskCounts,
  Actor,
  Comment,
  HistoryKind,
  FieldChange,
  HistoryEntry,
  AgentCategory,
  AgentStatus,
  Agent,
  AgentListItem,
  AgentCreated,
  Skill,
  AssignedSkill,
  ExecutionStatus,
  QualityGates,
  Execution,
  ExecutionListItem,
  ExecutionStarted,
  DelegationStatus,
  Delegation,
  Period,
  AgentMetrics,
  DailyMetrics,
  ExecutionMetrics,
  Improvement,
  ImprovementDecision,
  ImprovementPass,
  ImprovementProposal,
  ImprovementTrial,
  ImprovementVote,
  PromptSource,
  PromptListItem,
  Prompt,
  EventName,
  Webhook,
  AttemptHour,
  WebhookDetail,
  WebhookRegistered,
  SecretRotated,
  DeliveryRecord,
  DeliveryState,
  AttemptDetail,
  Delivery,
  TestResult,
  TaskEventData,
  ClaimEventData,
  CommentEventData,
  ExecutionEventData,
  WebhookEventData,
  Event,
  EventDelivery,
  EventDetail,
  EventOfWebhook,
  Me,
  Pagination,
  CursorPagination,
};

/** The options for JSON Schema 2020-12. */
const jsonSchema: ConversionConfig = {
  target: 'draft-2020-12',
  // JSON Schema cannot express these checks; the descriptions mention them.
  ignoreActions: ['check', 'raw_check', 'transform'],
};

const config: ConversionConfig = {
  ...jsonSchema,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
};

const definitions: Record<string, Schema> = { ...requestSchemas, ...responseSchemas };

/** Returns a reference to a schema in `components.schemas`. */
export const refersTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** The names of the enumerations in `components.schemas`, by their values as JSON. */
const enumerations = new Map(
  Object.entries(definitions).flatMap(([name, schema]) =>
    'options' in schema ? [[JSON.stringify(schema.options), name] as const] : [],
  ),
);

/**
 * Returns a part of the document with a reference for each enumeration in `components.schemas`. An enumeration with a
 * description of its own is not a reference at first, and generators of clients would give it a type of its own.
 */
function withReferences(part: unknown): unknown {
  const { enum: values, type, ...others } = Object(part) as Json;
  const name = enumerations.get(JSON.stringify(values));
  return name ? { ...refersTo(name), ...others } : withReferencesInside(part);
}

/** Returns a part of the document with references in its own parts. */
function withReferencesInside(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map(withReferences);
  return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, withReferences(inner)]));
}

/**
 * Returns a schema in the format of OpenAPI 3.1 (JSON Schema 2020-12). Schemas in `components.schemas` become
 * references.
 *
 * @param typeMode `input` for a request, `output` for a response
 */
export function schemaOf(schema: Schema, typeMode: 'input' | 'output'): Json {
  const { $schema, $defs, ...json } = toJsonSchema(schema, { ...config, typeMode, definitions });
  return withReferences(json) as Json;
}

/** Returns the JSON Schema of the input of a schema, without references. */
export function standaloneSchemaOf(schema: Schema): Json {
  const { $schema, ...json } = toJsonSchema(schema, { ...jsonSchema, typeMode: 'input' });
  return json;
}

const errorBody: Json = {
  type: 'object',
  required: ['code', 'message', 'requestId'],
  properties: {
    code: refersTo('ErrorCode'),
    message: { type: 'string', description: 'What is wrong and what to do, for people.' },
    requestId: { type: 'string', description: 'The X-Request-Id of the response.' },
    details: { type: 'array', description: 'The problems of the request, at most 20.', items: refersTo('ErrorDetail') },
  },
};

const errorResponse: Json = {
  type: 'object',
  required: ['success', 'error'],
  properties: { success: { type: 'boolean', const: false }, error: refersTo('ErrorBody') },
};

const errorDetail: Json = {
  type: 'object',
  required: ['path', 'code', 'message'],
  properties: {
    path: {
      type: 'string',
      description: 'The path of a field, such as `dependsOn.0`, or the name of a query parameter or header.',
    },
    code: { type: 'string', enum: detailCodes },
    message: { type: 'string' },
    worker: { type: 'string', description: 'Only for `task_claimed`: the worker that holds the claim.' },
    expiresAt: {
      type: 'string',
      format: 'date-time',
      description: 'Only for `task_claimed`: when the claim ends, unless it is renewed.',
    },
  },
};

/** Returns all schemas for `components.schemas`. */
export function namedSchemas(): Json {
  const requests = toJsonSchemaDefs(definitions, { ...config, typeMode: 'input' });
  const responses = toJsonSchemaDefs(definitions, { ...config, typeMode: 'output' });
  return {
    ...Object.fromEntries(
      Object.keys(requestSchemas).map((name) => [
        name,
        { ...(withReferencesInside(requests[name]) as Json), additionalProperties: false },
      ]),
    ),
    ...Object.fromEntries(Object.keys(responseSchemas).map((name) => [name, withReferencesInside(responses[name])])),
    ErrorCode: { type: 'string', description: 'All error codes.', enum: Object.keys(errorStatus) },
    ErrorDetail: errorDetail,
    ErrorBody: errorBody,
    ErrorResponse: errorResponse,
  };
}
