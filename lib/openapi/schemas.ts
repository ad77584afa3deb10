import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import { AgentMetrics, Period } from '../contract/agent-metrics.ts';
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
} from '../contract/agents.ts';
import { detailCodes, errorStatus } from '../contract/errors.ts';
import { EventName, ExecutionEventData, TaskEventData } from '../contract/events.ts';
import {
  Delegation,
  DelegationStatus,
  Execution,
  ExecutionListItem,
  ExecutionStarted,
  ExecutionStatus,
  NewDelegation,
  NewExecution,
  QualityGates,
} from '../contract/executions.ts';
import { Improvement, NewImprovement } from '../contract/improvements.ts';
import { Pagination, type Schema } from '../contract/shapes.ts';
import { Skill } from '../contract/skills.ts';
import {
  NewTask,
  Task,
  TaskCreated,
  TaskDetail,
  TaskPatch,
  TaskPriority,
  TaskReference,
  TaskStatus,
} from '../contract/tasks.ts';
import { DeliveryRecord, NewWebhook, TestEvent, TestResult, Webhook, WebhookRegistered } from '../contract/webhooks.ts';

/** An object of the document. */
export type Json = { [key: string]: unknown };

/** The schemas of request bodies. They reject unknown fields: `lib/http/middleware/parse.ts` does, not the valibot schemas. */
const requestSchemas = {
  NewTask,
  TaskPatch,
  NewAgent,
  AgentPatch,
  SoulUpdate,
  SkillAssignment,
  NewExecution,
  NewDelegation,
  NewImprovement,
  NewWebhook,
  TestEvent,
};

/**
 * The schemas of responses and those in both directions. They allow unknown fields, so that responses can get new ones.
 */
const responseSchemas = {
  TaskStatus,
  TaskPriority,
  Task,
  TaskCreated,
  TaskReference,
  TaskDetail,
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
  Improvement,
  EventName,
  Webhook,
  WebhookRegistered,
  DeliveryRecord,
  TestResult,
  TaskEventData,
  ExecutionEventData,
  Pagination,
};

const config: ConversionConfig = {
  target: 'draft-2020-12',
  // JSON Schema cannot express these checks; the descriptions mention them.
  ignoreActions: ['check', 'raw_check', 'transform'],
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
};

const definitions: Record<string, Schema> = { ...requestSchemas, ...responseSchemas };

/**
 * Returns a schema in the format of OpenAPI 3.1 (JSON Schema 2020-12). Schemas in `components.schemas` become
 * references.
 *
 * @param typeMode `input` for a request, `output` for a response
 */
export function schemaOf(schema: Schema, typeMode: 'input' | 'output'): Json {
  const { $schema: _, $defs: __, ...json } = toJsonSchema(schema, { ...config, typeMode, definitions });
  return json as Json;
}

/** Returns a reference to a schema in `components.schemas`. */
export const refersTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** Returns the schema of an error response whose `code` has the given schema. */
export function errorOf(code: Json): Json {
  const error = {
    code,
    message: { type: 'string', description: 'What is wrong and what to do, for people.' },
    requestId: { type: 'string', description: 'The X-Request-Id of the response.' },
    details: { type: 'array', description: 'The problems of the request, at most 20.', items: refersTo('ErrorDetail') },
  };
  return {
    type: 'object',
    required: ['success', 'error'],
    properties: {
      success: { type: 'boolean', const: false },
      error: { type: 'object', required: ['code', 'message', 'requestId'], properties: error },
    },
  };
}

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
  },
};

/** Returns all schemas for `components.schemas`. */
export function namedSchemas(): Json {
  const requests = toJsonSchemaDefs(definitions, { ...config, typeMode: 'input' });
  const responses = toJsonSchemaDefs(definitions, { ...config, typeMode: 'output' });
  return {
    ...Object.fromEntries(
      Object.keys(requestSchemas).map((name) => [name, { ...requests[name], additionalProperties: false }]),
    ),
    ...Object.fromEntries(Object.keys(responseSchemas).map((name) => [name, responses[name]])),
    ErrorCode: { type: 'string', description: 'All error codes.', enum: Object.keys(errorStatus) },
    ErrorDetail: errorDetail,
    ErrorResponse: errorOf(refersTo('ErrorCode')),
  };
}
