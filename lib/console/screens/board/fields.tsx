import type { ComponentProps } from 'react';
import type { NewTask, TaskDetail } from '../../../client/operations.ts';
import { useAgentNames } from '../../components/use-agent-names.ts';
import { DependenciesField } from './choices/dependencies-field.tsx';
import { ProjectField } from './choices/project-field.tsx';
import { priorities, statuses, statusLabels } from './tasks.ts';

type AgentProps = Pick<ComponentProps<'select'>, 'name' | 'defaultValue'> & {
  label: string;
  /** The text of the choice of no agent. */
  none: string;
  value?: string;
  onChange?: (name: string) => void;
};

/** A choice of an agent by its name. It has the chosen name even if that agent is deleted or not among the newest 100. */
export function AgentField({ label, none, value, onChange, name, defaultValue }: AgentProps) {
  const read = useAgentNames();
  const names = new Set(read);
  const chosen = String(value ?? defaultValue ?? '');
  if (chosen !== '') names.add(chosen);
  return (
    <select
      aria-label={label}
      name={name}
      // The choices arrive after the first rendering.
      key={read ? 'read' : 'reading'}
      {...(onChange ? { value, onChange: ({ target }) => onChange(target.value) } : { defaultValue })}
    >
      <option value="">{none}</option>
      {[...names].sort().map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}

/** The fields of a task, for a new one and for a change. `taskIn` reads them. */
export function TaskFields({ task }: { task: Partial<TaskDetail> }) {
  return (
    <>
      <label className="field">
        <span>Title</span>
        <input
          name="title"
          required
          maxLength={500}
          defaultValue={task.title}
          // biome-ignore lint/a11y/noAutofocus: the user has opened the form to type into it
          autoFocus
        />
      </label>
      <label className="field">
        <span>Description, in Markdown</span>
        <textarea name="description" rows={6} maxLength={10_000} defaultValue={task.description} />
      </label>
      <div className="field-row">
        <label className="field">
          <span>Status</span>
          <select name="status" defaultValue={task.status ?? 'backlog'}>
            {statuses.map((one) => (
              <option key={one} value={one}>
                {statusLabels[one]}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>Priority</span>
          <select name="priority" defaultValue={task.priority ?? 'medium'}>
            {priorities.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <div className="field">
          <span>Agent</span>
          <AgentField label="Agent" none="None" name="assignedAgent" defaultValue={task.assignedAgent ?? ''} />
        </div>
        <div className="field">
          <span>Project</span>
          <ProjectField
            name="projectId"
            label="Project"
            placeholder="proj_website"
            title="proj_ and letters, digits, _ or -"
            defaultValue={task.projectId}
          />
        </div>
      </div>
      <DependenciesField name="dependsOn" chosen={task.dependsOn ?? []} self={task.id} />
    </>
  );
}

/** A task as a form has it: empty fields are empty texts. */
export type EnteredTask = Required<NewTask>;

/** Returns the task in a form with `TaskFields`. */
export function taskIn(form: HTMLFormElement): EnteredTask {
  const fields = new FormData(form);
  const textOf = (name: string) => String(fields.get(name) ?? '').trim();
  return {
    title: textOf('title'),
    description: textOf('description'),
    status: textOf('status') as EnteredTask['status'],
    priority: textOf('priority') as EnteredTask['priority'],
    assignedAgent: textOf('assignedAgent'),
    projectId: textOf('projectId'),
    dependsOn: fields.getAll('dependsOn').map(String),
  };
}
