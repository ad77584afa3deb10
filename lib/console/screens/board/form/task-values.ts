import type { NewTask, TaskDetail, TaskPatch, TaskReference } from '../../../../client/operations.ts';

/** The fields of a task as its form has them. Empty fields are empty texts. */
export type TaskValues = Required<Omit<NewTask, 'dependsOn'>> & { dependsOn: readonly TaskReference[] };

/** Returns the values of a task, or those of a new one. */
export function valuesOf(task: Partial<TaskDetail>): TaskValues {
  return {
    title: task.title ?? '',
    description: task.description ?? '',
    status: task.status ?? 'backlog',
    priority: task.priority ?? 'medium',
    assignedAgent: task.assignedAgent ?? '',
    projectId: task.projectId ?? '',
    dependsOn: task.dependsOn ?? [],
  };
}

/** Returns the values that differ from those that a form began with; `undefined` if none does. */
export function changesOf(values: TaskValues, before: TaskValues): Partial<TaskValues> | undefined {
  const changed = namesOf(values).filter((name) => JSON.stringify(values[name]) !== JSON.stringify(before[name]));
  return changed.length === 0 ? undefined : Object.fromEntries(changed.map((name) => [name, values[name]]));
}

/** Returns the request that creates a task. It has no empty fields. */
export function newTaskOf(values: TaskValues): NewTask {
  const sent = namesOf(values).map((name) => [name, sentValue(values[name])] as const);
  return Object.fromEntries(sent.filter(([, value]) => value.length > 0)) as NewTask;
}

/** Returns the request that changes a task from the values of a form before to those after. An empty optional field is cleared. */
export function patchOf(before: TaskValues, after: TaskValues): TaskPatch {
  const changed = namesOf(after).filter((name) => comparedText(before[name]) !== comparedText(after[name]));
  return Object.fromEntries(changed.map((name) => [name, sentValue(after[name]) || null]));
}

function namesOf(values: TaskValues): (keyof TaskValues)[] {
  return Object.keys(values) as (keyof TaskValues)[];
}

function sentValue(value: TaskValues[keyof TaskValues]): string | string[] {
  return typeof value === 'string' ? value.trim() : value.map(({ id }) => id);
}

/** Returns a value as a text. A text area has its own line ends. */
function comparedText(value: TaskValues[keyof TaskValues]): string {
  return String(sentValue(value)).replaceAll('\r\n', '\n');
}
