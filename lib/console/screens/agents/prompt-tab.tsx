import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { CrewboardError } from '../../../client/client.ts';
import { Failure } from '../../components/failure.tsx';
import { useNotices } from '../../components/notices.tsx';
import { useClient, useScope } from '../../session.ts';
import { type AgentValues, agentCategories, agentStatuses, changedFields, patchOf, valuesOf } from './agent-fields.ts';
import { storeAgent, type VersionedAgent, versionedAgentOf } from './agent-queries.ts';
import { CapabilitiesField } from './capabilities-field.tsx';
import { PromptConflict } from './prompt-conflict.tsx';

/** The changes that the user has made, and the version of the agent that they began with. */
export type Draft = { base: VersionedAgent; changes: Partial<AgentValues> };

/** The changes that are not saved, which the screen keeps; `undefined` if there are none. */
export type Editor = { draft: Draft | undefined; setDraft: (draft: Draft | undefined) => void };

/** The editor of an agent. It saves only what was changed, and only if no other user has changed the agent meanwhile. */
export function PromptTab({ current, draft, setDraft }: { current: VersionedAgent } & Editor) {
  const client = useClient();
  const queries = useQueryClient();
  const { say } = useNotices();
  const canWrite = useScope('agents:write');
  const [other, setOther] = useState<VersionedAgent>();

  const { base, changes } = draft ?? { base: current, changes: {} };
  const before = valuesOf(base.agent);
  const values = { ...before, ...changes };
  const changed = changedFields(changes, before);
  const { name } = base.agent;

  const saving = useMutation({
    mutationFn: () => client.updateAgent({ params: { name }, body: patchOf(changes, before), ifMatch: base.etag }),
    onSuccess: async (answer) => {
      await storeAgent(queries, versionedAgentOf(answer));
      setDraft(undefined);
      say('The agent is saved.');
    },
    onError: async (error) => {
      if (!isConflict(error)) return;
      setOther(versionedAgentOf(await client.getAgent({ params: { name } })));
    },
  });
  const change = (more: Partial<AgentValues>) => {
    const all = { ...changes, ...more };
    setDraft(changedFields(all, before).length === 0 ? undefined : { base, changes: all });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };

  if (other)
    return (
      <PromptConflict
        mine={changes}
        base={before}
        theirs={valuesOf(other.agent)}
        keepMine={() => {
          setDraft({ base: other, changes });
          setOther(undefined);
          saving.reset();
        }}
        takeTheirs={async () => {
          await storeAgent(queries, other);
          setDraft(undefined);
          setOther(undefined);
          saving.reset();
        }}
      />
    );
  return (
    <form className="form agent-form" onSubmit={submit}>
      <fieldset disabled={!canWrite || saving.isPending}>
        <Texts values={values} change={change} />
        <Facts values={values} change={change} />
      </fieldset>
      {saving.isError && <Failure error={saving.error} />}
      {canWrite && (
        <div className="actions form-bar">
          <button type="submit" className="primary" disabled={changed.length === 0 || saving.isPending}>
            {saving.isPending ? 'Saving…' : 'Save'}
          </button>
          <button type="button" disabled={changed.length === 0 || saving.isPending} onClick={() => setDraft(undefined)}>
            Discard changes
          </button>
          <span className="muted">
            {changed.length === 0
              ? 'No changes'
              : changed.length === 1
                ? '1 field changed'
                : `${changed.length} fields changed`}
          </span>
        </div>
      )}
    </form>
  );
}

function isConflict(error: Error): boolean {
  return error instanceof CrewboardError && error.status === 412;
}

/** What each part of the form gets. */
type Edit = { values: AgentValues; change: (changes: Partial<AgentValues>) => void };

function Texts({ values, change }: Edit) {
  return (
    <div className="form">
      <label className="field">
        <span>System prompt: instructions for the task. Each change makes a version.</span>
        <textarea
          className="mono"
          rows={14}
          maxLength={50_000}
          spellCheck={false}
          value={values.systemPrompt}
          onChange={({ target }) => change({ systemPrompt: target.value })}
        />
      </label>
      <label className="field">
        <span>Soul: values, style and limits. Self-improvement does not change it.</span>
        <textarea
          className="mono"
          rows={6}
          maxLength={50_000}
          spellCheck={false}
          value={values.soul}
          onChange={({ target }) => change({ soul: target.value })}
        />
      </label>
    </div>
  );
}

function Facts({ values, change }: Edit) {
  return (
    <div className="form">
      <label className="field">
        <span>Display name</span>
        <input
          required
          maxLength={200}
          value={values.displayName}
          onChange={({ target }) => change({ displayName: target.value })}
        />
      </label>
      <label className="field">
        <span>Description</span>
        <textarea
          rows={3}
          maxLength={10_000}
          value={values.description}
          onChange={({ target }) => change({ description: target.value })}
        />
      </label>
      <div className="field-pair">
        <label className="field">
          <span>Status</span>
          <select
            value={values.status}
            onChange={({ target }) => change({ status: target.value as AgentValues['status'] })}
          >
            {agentStatuses.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>Category</span>
          <select
            value={values.category}
            onChange={({ target }) => change({ category: target.value as AgentValues['category'] })}
          >
            {agentCategories.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      <label className="field">
        <span>Model; empty for the default model</span>
        <input
          className="mono"
          maxLength={256}
          value={values.model}
          onChange={({ target }) => change({ model: target.value })}
        />
      </label>
      <CapabilitiesField values={values.capabilities} change={(capabilities) => change({ capabilities })} />
    </div>
  );
}
