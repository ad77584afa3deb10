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

/** A part of the document. */
export type Json = { [key: string]: unknown };

/** What is sent: a body refuses unknown fields, which the schemas themselves leave to the edge. */
const bodies = {
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

/** What is answered, and the words that both sides use. Fields may be added to an answer, so it is left open. */
const answers = {
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
  // What JSON Schema has no words for is said in descriptions, and refused by the edge.
  ignoreActions: ['check', 'raw_check', 'transform'],
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
};

const definitions: Record<string, Schema> = { ...bodies, ...answers };

/**
 * A schema as OpenAPI 3.1 writes it (JSON Schema 2020-12): of what is sent, or of what is answered. What has a name of
 * its own is a reference to it.
 */
export function schemaOf(schema: Schema, typeMode: 'input' | 'output'): Json {
  const { $schema: _, $defs: __, ...json } = toJsonSchema(schema, { ...config, typeMode, definitions });
  return json as Json;
}

/** A reference to a schema by its name. */
export const refersTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** What every answer but a success is, with one of these codes. */
export function errorOf(code: Json): Json {
  const error = {
    code,
    message: { type: 'string', description: 'What is wrong, and what to do, for people.' },
    requestId: { type: 'string', description: 'The X-Request-Id of the answer.' },
    details: { type: 'array', description: 'Each fault, 20 at most.', items: refersTo('ErrorDetail') },
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
    path: { type: 'string', description: 'A field as `dependsOn.0`, a query parameter or a header by its name.' },
    code: { type: 'string', enum: detailCodes },
    message: { type: 'string' },
  },
};

/** Every schema that has a name, as `components.schemas` lists them. */
export function namedSchemas(): Json {
  const sent = toJsonSchemaDefs(definitions, { ...config, typeMode: 'input' });
  const answered = toJsonSchemaDefs(definitions, { ...config, typeMode: 'output' });
  return {
    ...Object.fromEntries(Object.keys(bodies).map((name) => [name, { ...sent[name], additionalProperties: false }])),
    ...Object.fromEntries(Object.keys(answers).map((name) => [name, answered[name]])),
    ErrorCode: { type: 'string', description: 'The closed list of codes.', enum: Object.keys(errorStatus) },
    ErrorDetail: errorDetail,
    ErrorResponse: errorOf(refersTo('ErrorCode')),
  };
}
