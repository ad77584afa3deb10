import type { Agent, AgentCategory, AgentPatch, AgentStatus } from '../../../client/operations.ts';

/** The categories and the statuses of agents. */
export const agentCategories: readonly AgentCategory[] = [
  'business',
  'development',
  'qa',
  'research',
  'operations',
  'specialized',
];
export const agentStatuses: readonly AgentStatus[] = ['active', 'inactive', 'draft'];

/** The capabilities that let the model of an agent call tools, and what they allow. Others are labels. */
export const toolCapabilities = {
  'tasks.read': 'read tasks',
  'tasks.write': 'create and change tasks',
  delegate: 'delegate to other agents',
  skills: 'read its skills',
} as const;

/** The fields of an agent that the editor changes, with their labels, in the order of the form. */
export const editedFields = {
  displayName: 'Display name',
  description: 'Description',
  status: 'Status',
  category: 'Category',
  model: 'Model',
  capabilities: 'Capabilities',
  systemPrompt: 'System prompt',
  soul: 'Soul',
} as const;

/** A field that the editor changes. */
export type EditedField = keyof typeof editedFields;

/** The values that the editor shows. */
export type AgentValues = Required<Pick<Agent, EditedField>>;

/** Returns the values of an agent that the editor shows. */
export function valuesOf({ description = '', ...agent }: Agent): AgentValues {
  const { displayName, status, category, model, capabilities, systemPrompt, soul } = agent;
  return { displayName, description, status, category, model, capabilities, systemPrompt, soul };
}

/** Returns whether a field has the same value in both. */
export function isSame(field: EditedField, one: Partial<AgentValues>, other: Partial<AgentValues>): boolean {
  return JSON.stringify(one[field]) === JSON.stringify(other[field]);
}

/** Returns the fields in which a draft differs from an agent. */
export function changedFields(draft: Partial<AgentValues>, agent: AgentValues): EditedField[] {
  return (Object.keys(editedFields) as EditedField[]).filter((field) => field in draft && !isSame(field, draft, agent));
}

/** Returns the request that makes the changes of a draft. An empty description is deleted; an empty model is the default. */
export function patchOf(draft: Partial<AgentValues>, agent: AgentValues): AgentPatch {
  const patch = Object.fromEntries(changedFields(draft, agent).map((field) => [field, draft[field]]));
  for (const field of ['description', 'model']) if (patch[field] === '') Object.assign(patch, { [field]: null });
  return patch;
}

/** Returns a value as the text that people compare. */
export function textOf(value: AgentValues[EditedField]): string {
  return typeof value === 'string' ? value : value.join(', ');
}
