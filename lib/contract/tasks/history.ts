import * as v from 'valibot';
import { Actor } from '../actors.ts';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { AgentName, count, described, id, oneOf, pageQuery, Timestamp } from '../shapes.ts';
import { TaskId } from './tasks.ts';

/** What has happened to a task or an agent, and by whom. */

const HistoryEntryId = id('hi', 'an entry of a history');

/** The largest number of entries of a history that are shown. */
export const historyLimit = 1_000;

/** The kinds of entries. */
const historyKinds = [
  ...(['created', 'changed', 'claimed', 'released', 'reviewed', 'commented'] as const),
  ...(['execution_started', 'execution_ended', 'deleted'] as const),
] as const;
export const HistoryKind = oneOf(historyKinds);
export type HistoryKind = v.InferOutput<typeof HistoryKind>;

/** A long text in a history: its length in characters, and its hash. */
const LongText = v.object({
  length: described(count, 'Number of characters.'),
  hash: described(v.string(), 'SHA-256 of its UTF-8 bytes.'),
});

/** A value of a field; `null` if it is not set. */
const FieldValue = v.nullable(v.union([v.string(), v.number(), v.boolean(), v.array(v.string()), LongText]));
export type FieldValue = v.InferOutput<typeof FieldValue>;

/** A change of a field. */
export const FieldChange = v.object({
  field: v.string(),
  from: described(FieldValue, 'The value before; `null` if it was not set. A long text by its length and hash.'),
  to: described(FieldValue, 'The value after.'),
});
export type FieldChange = v.InferOutput<typeof FieldChange>;

/** An entry of a history. */
export const HistoryEntry = v.object({
  id: HistoryEntryId,
  at: Timestamp,
  kind: HistoryKind,
  by: Actor,
  requestId: v.optional(described(v.string(), 'The id of the request, as its `X-Request-Id` header has it.')),
  changes: v.optional(described(v.array(FieldChange), 'The changed fields.')),
  note: v.optional(
    described(v.string(), 'What the worker or the reviewer has said, or the start of the comment; why a claim ended.'),
  ),
});
export type HistoryEntry = v.InferOutput<typeof HistoryEntry>;

export const getTaskHistory = endpoint({
  method: 'GET',
  path: '/api/kanban-tasks/:id/history',
  scope: 'tasks:read',
  summary: 'Get the history of a task',
  params: { id: TaskId },
  query: v.object(pageQuery),
  status: 200,
  data: HistoryEntry,
  paged: true,
  servedBy: 'listTasks',
});

export const getTaskHistoryReference = (): ApiReference<typeof getTaskHistory> => ({
  description: `Returns what has happened to the task, the newest first: one entry for each action, with the fields that it has changed and who has done it. An entry appears about a second after its action. Entries are kept for 365 days; the newest 1,000 are shown, and \`pagination.total\` is their exact number. The history begins with the first change after the update to version 0.3.0, and ends with the task: afterwards its events are in the event log.`,
  data: [
    {
      id: examples.historyEntryId,
      at: examples.ended,
      kind: 'reviewed',
      by: { kind: 'token', name: 'console', id: examples.tokenId },
      changes: [{ field: 'status', from: 'up_for_review', to: 'assigned' }],
      note: 'The page is wider than a phone.',
    },
  ],
});

export const getAgentHistory = endpoint({
  method: 'GET',
  path: '/api/agents/:name/history',
  scope: 'agents:read',
  summary: 'Get the history of an agent',
  forPeople: true,
  params: { name: AgentName },
  query: v.object(pageQuery),
  status: 200,
  data: HistoryEntry,
  paged: true,
  servedBy: 'listAgents',
});

export const getAgentHistoryReference = (): ApiReference<typeof getAgentHistory> => ({
  description: `Returns what has changed of the agent, the newest first, as the history of a task has it. Prompts and souls are named by their hashes. An assigned or removed skill is a change of \`skills\`. An entry appears about a second after its change; the newest 1,000 of the last 365 days are shown.`,
  params: { name: examples.systemAgentName },
  data: [
    {
      id: examples.historyEntryId,
      at: examples.ended,
      kind: 'changed',
      by: { kind: 'token', name: 'console', id: examples.tokenId },
      changes: [{ field: 'status', from: 'active', to: 'inactive' }],
    },
  ],
});
