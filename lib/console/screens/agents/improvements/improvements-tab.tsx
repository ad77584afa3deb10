import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Modal } from '../../../components/dialogs/dialog.tsx';
import { FormEnd } from '../../../components/dialogs/form-end.tsx';
import { Failure } from '../../../components/failure.tsx';
import { Empty, Skeleton } from '../../../components/page.tsx';
import { useClient, useScope } from '../../../session.ts';
import { useImprovements } from '../agent-queries.ts';
import { LoadMore } from '../load-more.tsx';
import { Improvement } from './improvement.tsx';

/** The self-improvement passes of an agent, with their proof. */
export function ImprovementsTab({ name }: { name: string }) {
  const passes = useImprovements(name);
  const canExecute = useScope('agents:execute');
  const canWrite = useScope('agents:write');
  if (passes.isPending) return <Skeleton />;
  if (passes.isError) return <Failure error={passes.error} retry={() => void passes.refetch()} />;
  const { items, total } = passes.data;
  return (
    <>
      {canExecute && canWrite && (
        <div className="actions improvements-head">
          <ImproveNow name={name} />
        </div>
      )}
      {total === 0 ? (
        <Empty title="No improvements yet">
          <p>
            A pass reviews recent executions, proposes an edit of the prompt, and adopts it only if a blind comparison
            prefers the new answers.
          </p>
        </Empty>
      ) : (
        <>
          <ul className="improvements">
            {items.map((pass, at) => (
              <li key={pass.id}>
                <Improvement agent={name} pass={pass} isOpen={at === 0} />
              </li>
            ))}
          </ul>
          <LoadMore query={passes} shown={items.length} total={total} noun="pass" plural="passes" />
        </>
      )}
    </>
  );
}

/** A button that starts a pass, after a warning about its cost. */
function ImproveNow({ name }: { name: string }) {
  const client = useClient();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [focusArea, setFocusArea] = useState('');
  const pass = useMutation({
    mutationFn: () =>
      client.selfImproveAgent({
        params: { name },
        body: focusArea.trim() === '' ? {} : { focusArea: focusArea.trim() },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['agents', name] }),
  });
  return (
    <>
      <button
        type="button"
        className="primary"
        onClick={() => {
          pass.reset();
          setOpen(true);
        }}
      >
        Improve now
      </button>
      <Modal title="Improve the prompt?" open={isOpen} onClose={() => setOpen(false)}>
        {pass.data ? (
          <div className="form">
            <p role="status">
              {pass.data.data.improved ? 'The prompt is improved.' : 'The prompt stays.'}{' '}
              {pass.data.data.changesSummary}
            </p>
            <div className="actions">
              <button type="button" className="primary" onClick={() => setOpen(false)}>
                Close
              </button>
            </div>
          </div>
        ) : (
          <form
            className="form"
            onSubmit={(event) => {
              event.preventDefault();
              pass.mutate();
            }}
          >
            <p>
              A pass makes up to about 60 model calls, whose tokens count: it answers ten recent inputs with both
              prompts and has a reviewer compare the answers. It takes up to 30 seconds, and can change the system
              prompt.
            </p>
            <label className="field">
              <span>What the review focuses on (optional)</span>
              <input maxLength={1_000} value={focusArea} onChange={({ target }) => setFocusArea(target.value)} />
            </label>
            <FormEnd
              label={pass.isPending ? 'Improving…' : 'Start the pass'}
              isDisabled={pass.isPending}
              error={pass.error}
              cancel={() => setOpen(false)}
            />
          </form>
        )}
      </Modal>
    </>
  );
}
