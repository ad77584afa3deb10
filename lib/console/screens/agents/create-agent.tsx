import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { NewAgent } from '../../../client/operations.ts';
import { Modal } from '../../components/dialogs/dialog.tsx';
import { FormEnd } from '../../components/dialogs/form-end.tsx';
import { MissingDialog } from '../../components/dialogs/missing-scope.tsx';
import { useDraft } from '../../components/hooks/use-draft.ts';
import { useNotices } from '../../components/notices.tsx';
import { useClient, useScope } from '../../session.ts';
import { agentCategories } from './agent-fields.ts';

/** A button that opens a form for a new agent, if the token may create one. The URL opens it too, so other screens can link to it. */
export function CreateAgent() {
  const { create, ...filters } = useSearch({ from: '/agents' });
  const navigate = useNavigate();
  const canWrite = useScope('agents:write');
  const open = () => navigate({ to: '/agents', search: { ...filters, create: 'agent' }, replace: true });
  const close = () => navigate({ to: '/agents', search: filters, replace: true });
  if (!canWrite)
    return (
      create !== undefined && (
        <MissingDialog title="Create an agent" scopes={['agents:write']} onClose={() => void close()} />
      )
    );
  return (
    <>
      <button type="button" className="primary" onClick={() => void open()}>
        Create agent
      </button>
      <Modal title="Create an agent" open={create !== undefined} onClose={() => void close()}>
        <CreateForm close={close} />
      </Modal>
    </>
  );
}

/** Returns the fields of the form that are filled in. */
function newAgentOf(form: HTMLFormElement): NewAgent {
  const filled = [...new FormData(form)].filter(([, value]) => value !== '');
  return Object.fromEntries(filled) as unknown as NewAgent;
}

function CreateForm({ close }: { close: () => Promise<void> }) {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { say } = useNotices();
  const [draft, keepDraft] = useDraft<Record<string, string>>('new-agent');
  // The fields keep their values themselves.
  const [entered] = useState(draft);
  const creation = useMutation({
    mutationFn: (body: NewAgent) => client.createAgent({ body }),
    onSuccess: async ({ data: { name, displayName } }) => {
      keepDraft(undefined);
      // The router joins changes of the URL in one turn: going back would then open the form again.
      await close();
      say(`The agent ${displayName} is created.`);
      void queries.invalidateQueries({ queryKey: ['agents'] });
      await navigate({ to: '/agents/$name', params: { name }, search: { tab: 'prompt' } });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    creation.mutate(newAgentOf(event.currentTarget));
  };
  const keep = (event: FormEvent<HTMLFormElement>) => {
    const { category = '', ...texts } = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
    keepDraft(Object.values(texts).some((text) => text !== '') ? { category, ...texts } : undefined);
  };
  return (
    <form className="form" onSubmit={submit} onChange={keep}>
      <label className="field">
        <span>Display name</span>
        <input name="displayName" defaultValue={entered?.displayName} required maxLength={200} autoComplete="off" />
      </label>
      <label className="field">
        <span>Name, which paths use and which never changes</span>
        <input
          name="name"
          defaultValue={entered?.name}
          className="mono"
          required
          maxLength={64}
          pattern="[a-z0-9]+(-[a-z0-9]+)*"
          title="Lowercase letters and digits, separated by single hyphens"
          placeholder="release-notes"
          autoComplete="off"
        />
      </label>
      <label className="field">
        <span>Category</span>
        <select name="category" defaultValue={entered?.category ?? 'development'}>
          {agentCategories.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>System prompt</span>
        <textarea
          name="systemPrompt"
          defaultValue={entered?.systemPrompt}
          rows={6}
          maxLength={50_000}
          placeholder="You write release notes."
        />
      </label>
      <FormEnd
        label={creation.isPending ? 'Creating…' : 'Create agent'}
        isDisabled={creation.isPending}
        error={creation.error}
        cancel={() => void close()}
        discard={
          draft &&
          (() => {
            keepDraft(undefined);
            void close();
          })
        }
      />
    </form>
  );
}
