import type { FieldChange, HistoryEntry } from '../../../../../client/operations.ts';
import { statusText } from '../../../../components/format/status-text.ts';

/** The names of fields for people. */
const fieldNames: Readonly<Record<string, string>> = {
  assignedAgent: 'agent',
  projectId: 'project',
  dependsOn: 'dependencies',
};

const list = new Intl.ListFormat('en');

/** What entries say beside the changed fields, by their kinds. */
const actions = {
  created: 'created the task',
  claimed: 'claimed the task',
  released: 'released the task',
  commented: 'commented',
  execution_started: 'started a run',
  execution_ended: 'ended a run',
  deleted: 'deleted the task',
} as const;

/** Returns what an entry of a history says after the name of who has done it: `changed the status from assigned to in progress`. */
export function historyText({ kind, changes = [] }: Pick<HistoryEntry, 'kind' | 'changes'>): string {
  if (kind === 'created') return creationText(changes);
  if (kind === 'reviewed') return reviewText(changes);
  const changed = changes.map(changeText);
  if (kind !== 'changed') return list.format([actions[kind], ...changed]);
  // The worker of a claim has a new note.
  return changed.length === 0 ? 'left a note' : list.format(changed);
}

/** A new task has all its fields changed. Its title is that of the panel. */
function creationText(changes: readonly FieldChange[]): string {
  const status = changes.find(({ field }) => field === 'status')?.to;
  return typeof status === 'string' ? `${actions.created} with the status ${statusText(status)}` : actions.created;
}

function reviewText(changes: readonly FieldChange[]): string {
  const isStatus = ({ field }: FieldChange) => field === 'status';
  const status = changes.find(isStatus)?.to;
  const decision = status === 'done' ? 'accepted the task' : `sent the task back to ${statusText(String(status))}`;
  return list.format([decision, ...changes.filter((change) => !isStatus(change)).map(changeText)]);
}

function changeText({ field, from, to }: FieldChange): string {
  const name = fieldNames[field] ?? field;
  if (field === 'dependsOn') return dependenciesText(listOf(from), listOf(to));
  if (field === 'stopped') return to === null ? 'offered the task again' : 'stopped the task';
  const [before, after] = [shown(field, from), shown(field, to)];
  if (field === 'assignedAgent' && from === null) return `assigned the task to ${after}`;
  if (from === null) return after === undefined ? `added the ${name}` : `set the ${name} to ${after}`;
  if (to === null) return `removed the ${name}`;
  return before === undefined || after === undefined
    ? `changed the ${name}`
    : `changed the ${name} from ${before} to ${after}`;
}

function dependenciesText(from: readonly string[], to: readonly string[]): string {
  const [added, removed] = [to.filter((id) => !from.includes(id)), from.filter((id) => !to.includes(id))];
  const counted = ({ length }: readonly string[]) => (length === 1 ? '1 dependency' : `${length} dependencies`);
  const parts = [
    ...(added.length > 0 ? [`added ${counted(added)}`] : []),
    ...(removed.length > 0 ? [`removed ${counted(removed)}`] : []),
  ];
  return parts.length === 0 ? 'changed the order of the dependencies' : list.format(parts);
}

/** Returns a value as a part of a sentence; `undefined` for a long text, which a history has by its hash, and for a description. */
function shown(field: string, value: FieldChange['from']): string | undefined {
  if (typeof value === 'object' || field === 'description') return undefined;
  if (field === 'title') return `“${value}”`;
  return field === 'status' ? statusText(String(value)) : String(value);
}

const listOf = (value: FieldChange['from']): readonly string[] => (Array.isArray(value) ? value : []);
