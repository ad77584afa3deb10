import type { TaskPriority, TaskStatus } from '../../../../client/operations.ts';
import { useAgentNames } from '../../../components/hooks/use-agent-names.ts';
import { DependenciesField } from '../choices/dependencies-field.tsx';
import { ProjectField } from '../choices/project-field.tsx';
import { priorities, statuses, statusLabels } from '../tasks.ts';
import type { TaskValues } from './task-values.ts';

type AgentProps = {
  label: string;
  /** The text of the choice of no agent. */
  none: string;
  value: string;
  onChange: (name: string) => void;
};

/** A choice of an agent by its name. It has the chosen name even if that agent is deleted or not among the newest 100. */
export function AgentField({ label, none, value, onChange }: AgentProps) {
  const names = new Set(useAgentNames());
  if (value !== '') names.add(value);
  return (
    <select aria-label={label} value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">{none}</option>
      {[...names].sort().map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}

type FieldsProps = {
  values: TaskValues;
  change: (changes: Partial<TaskValues>) => void;
  /** The id of the task; absent for a new one. */
  self?: string;
};

/** The fields of a task, for a new one and for a change. */
export function TaskFields({ values, change, self }: FieldsProps) {
  return (
    <>
      <label className="field">
        <span>Title</span>
        <input
          required
          maxLength={500}
          value={values.title}
          onChange={({ target }) => change({ title: target.value })}
          // biome-ignore lint/a11y/noAutofocus: the user has opened the form to type into it
          autoFocus
        />
      </label>
      <label className="field">
        <span>Description, in Markdown</span>
        <textarea
          rows={6}
          maxLength={10_000}
          value={values.description}
          onChange={({ target }) => change({ description: target.value })}
        />
      </label>
      <div className="field-row">
        <label className="field">
          <span>Status</span>
          <select value={values.status} onChange={({ target }) => change({ status: target.value as TaskStatus })}>
            {statuses.map((one) => (
              <option key={one} value={one}>
                {statusLabels[one]}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>Priority</span>
          <select value={values.priority} onChange={({ target }) => change({ priority: target.value as TaskPriority })}>
            {priorities.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <div className="field">
          <span>Agent</span>
          <AgentField
            label="Agent"
            none="None"
            value={values.assignedAgent}
            onChange={(assignedAgent) => change({ assignedAgent })}
          />
        </div>
        <div className="field">
          <span>Project</span>
          <ProjectField
            name="projectId"
            label="Project"
            placeholder="proj_website"
            title="proj_ and letters, digits, _ or -"
            defaultValue={values.projectId}
            onChange={(projectId) => change({ projectId })}
          />
        </div>
      </div>
      <DependenciesField value={values.dependsOn} onChange={(dependsOn) => change({ dependsOn })} self={self} />
    </>
  );
}
