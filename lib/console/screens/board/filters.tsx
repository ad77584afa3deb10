import type { FormEvent } from 'react';
import { ProjectField } from './choices/project-field.tsx';
import { AgentField } from './form/fields.tsx';
import { priorities } from './tasks.ts';

/** The filters of the board as they are in the URL. */
type Search = { project?: string; agent?: string; priority?: string };

/** The filters of the board. A project applies with Enter or when the field is left. */
export function FilterBar({ search, apply }: { search: Search; apply: (change: Search) => void }) {
  function applyProject(input: HTMLInputElement): void {
    if (input.value === (search.project ?? '')) return;
    if (input.reportValidity()) apply({ project: input.value });
  }
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    applyProject(event.currentTarget.elements.namedItem('project') as HTMLInputElement);
  }
  const isFiltered = Boolean(search.project || search.agent || search.priority);
  return (
    <form className="filters" onSubmit={submit} noValidate>
      {/* Without it, Enter would not submit: the field of the project has a second, hidden input. */}
      <input type="submit" hidden />
      <ProjectField
        key={search.project}
        name="project"
        label="Project"
        placeholder="Any project"
        title="The id of a project, such as proj_website"
        defaultValue={search.project}
        onBlur={({ currentTarget }) => applyProject(currentTarget)}
        onChoose={(project) => apply({ project })}
      />
      <AgentField label="Agent" none="Any agent" value={search.agent ?? ''} onChange={(agent) => apply({ agent })} />
      <select
        aria-label="Priority"
        value={search.priority ?? ''}
        onChange={({ target }) => apply({ priority: target.value })}
      >
        <option value="">Any priority</option>
        {priorities.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      {isFiltered && (
        <button type="button" className="quiet" onClick={() => apply({ project: '', agent: '', priority: '' })}>
          Clear the filters
        </button>
      )}
    </form>
  );
}
