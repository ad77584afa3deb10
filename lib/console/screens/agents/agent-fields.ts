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
  maxSteps: 'Step limit',
  maxTokens: 'Token limit',
  capabilities: 'Capabilities',
  autoRun: 'Starts by itself',
  maxRunning: 'Runs at a time',
  autoRetry: 'Retries',
  autoAccept: 'Accepts by itself',
  dependencyResults: 'Gets the results of dependencies',
  systemPrompt: 'System prompt',
  soul: 'Soul',
} as const;

/** A field that the editor changes. */
export type EditedField = keyof typeof editedFields;

/** The limits of an agent's executions: the highest value that the API accepts, and that of a deployment by default. */
export const highestLimits = { maxSteps: 200, maxTokens: 10_000_000 } as const;
export const standardLimits = { maxSteps: 20, maxTokens: 200_000 } as const;

/** The numbers of an agent that starts by itself: the range that the API accepts, and the value by default. */
export const conductNumbers = {
  maxRunning: { least: 1, highest: 50, standard: 1 },
  autoRetry: { least: 0, highest: 3, standard: 0 },
} as const;

type NumberField = keyof typeof highestLimits | keyof typeof conductNumbers;

/** The values that the editor shows. A number is a text of digits. The text of a limit is empty if the agent has none. */
export type AgentValues = Required<Pick<Agent, Exclude<EditedField, NumberField>>> & Record<NumberField, string>;

/** Returns the values of an agent that the editor shows. */
export function valuesOf({ description = '', ...agent }: Agent): AgentValues {
  const { displayName, status, category, model, capabilities, systemPrompt, soul } = agent;
  const { autoRun, autoAccept, dependencyResults } = agent;
  const numbers = {
    maxSteps: String(agent.maxSteps ?? ''),
    maxTokens: String(agent.maxTokens ?? ''),
    maxRunning: String(agent.maxRunning),
    autoRetry: String(agent.autoRetry),
  };
  const conduct = { autoRun, autoAccept, dependencyResults };
  return {
    displayName,
    description,
    status,
    category,
    model,
    ...numbers,
    ...conduct,
    capabilities,
    systemPrompt,
    soul,
  };
}

/** Returns whether a field has the same value in both. */
export function isSame(field: EditedField, one: Partial<AgentValues>, other: Partial<AgentValues>): boolean {
  return JSON.stringify(one[field]) === JSON.stringify(other[field]);
}

/** Returns the fields in which a draft differs from an agent. */
export function changedFields(draft: Partial<AgentValues>, agent: AgentValues): EditedField[] {
  return (Object.keys(editedFields) as EditedField[]).filter((field) => field in draft && !isSame(field, draft, agent));
}

/**
 * Returns the request that makes the changes of a draft. Empty texts clear their fields, and so set the default model. An empty number
 * of an agent that starts by itself is its default.
 */
export function patchOf(draft: Partial<AgentValues>, agent: AgentValues): AgentPatch {
  const newValueOf = (field: EditedField) => {
    const value = draft[field];
    if (value === '') return isConductNumber(field) ? conductNumbers[field].standard : null;
    return field in highestLimits || isConductNumber(field) ? Number(value) : value;
  };
  return Object.fromEntries(changedFields(draft, agent).map((field) => [field, newValueOf(field)]));
}

function isConductNumber(field: EditedField): field is keyof typeof conductNumbers {
  return field in conductNumbers;
}

/** Returns a value as the text that people compare. */
export function textOf(value: AgentValues[EditedField]): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : value.join(', ');
}
