import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { CrewboardError } from '../../../../client/client.ts';
import { Failure } from '../../../components/failure.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { useClient, useScope } from '../../../session.ts';
import { type AgentValues, changedFields, patchOf, valuesOf } from '../agent-fields.ts';
import { storeAgent, type VersionedAgent, versionedAgentOf } from '../agent-queries.ts';
import { FactFields, TextFields } from './editor-fields.tsx';
import type { Problems } from './field.tsx';
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
    saving.reset();
    setDraft(changedFields(all, before).length === 0 ? undefined : { base, changes: all });
  };
  const problems = problemsOf(saving.error);
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
        <TextFields {...{ values, problems, change }} />
        <FactFields {...{ values, problems, change }} />
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
              : `${changed.length === 1 ? '1 field' : `${changed.length} fields`} changed, kept in this tab`}
          </span>
        </div>
      )}
    </form>
  );
}

/** Returns what the service does not accept, by the name of the field. */
function problemsOf(error: Error | null): Problems {
  const details = error instanceof CrewboardError ? error.details : [];
  return Object.fromEntries(details.map(({ path, message }) => [path.split(/\W/, 1)[0], message]));
}

function isConflict(error: Error): boolean {
  return error instanceof CrewboardError && error.status === 412;
}
