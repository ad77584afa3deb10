import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CrewboardError } from '../../../../client/client.ts';
import type { TaskDetail } from '../../../../client/operations.ts';
import { ConfirmAction } from '../../../components/dialogs/confirm.tsx';
import { Failure } from '../../../components/failure.tsx';
import { useNotices } from '../../../components/notices.tsx';
import { Ago, useNow } from '../../../components/time.tsx';
import { useClient, useScope } from '../../../session.ts';
import { useFocusOfPanel } from '../focus.ts';

type Claim = NonNullable<TaskDetail['claim']>;

/** Says who has claimed a task, or why no worker gets it, and lets a person take it back. */
export function TaskClaim({ task }: { task: TaskDetail }) {
  const { claim, stopped } = task;
  const canWrite = useScope('tasks:write');
  return (
    <>
      {/* The question is about this claim: it closes when the claim ends, also if another worker has the task then. */}
      {claim && (
        <Part key={claim.id} label="Claim">
          <ClaimFacts claim={claim} />
          {canWrite && <TakeBack task={task} claim={claim} />}
        </Part>
      )}
      {stopped && (
        <Part key={task.id} label="Stopped" isProblem>
          <h3>
            Stopped <Ago at={stopped.at} />
          </h3>
          <p>No worker gets the task.</p>
          <p className="worker-text">{stopped.reason}</p>
          {canWrite && <OfferAgain task={task} />}
        </Part>
      )}
    </>
  );
}

function Part({ label, isProblem, children }: { label: string; isProblem?: boolean; children: ReactNode }) {
  useFocusOfPanel();
  return (
    <section className={isProblem ? 'task-claim task-stopped' : 'task-claim'} aria-label={label}>
      {children}
    </section>
  );
}

function ClaimFacts({ claim: { worker, expiresAt, note } }: { claim: Claim }) {
  const isOver = Date.parse(expiresAt) <= useNow();
  return (
    <>
      <h3>Claimed by {worker}</h3>
      <p>
        {isOver ? 'It expired ' : 'It expires '}
        <Ago at={expiresAt} />
        {isOver ? '.' : ' unless the worker renews it.'}
      </p>
      {note !== undefined && (
        <p className="worker-text">
          <span className="muted">Latest note:</span> {note}
        </p>
      )}
    </>
  );
}

function TakeBack({ task, claim: { worker } }: { task: TaskDetail; claim: Claim }) {
  const takeBack = useTakeBack(task, `You have taken back “${task.title}”.`);
  return (
    <ConfirmAction button="Take back" title="Take the task back?" label="Take back" act={takeBack}>
      <p>
        “{worker}” loses the task, and its next request for it fails.{' '}
        {task.status === 'in_progress'
          ? 'The task gets the status from before the claim.'
          : 'The task keeps its status.'}
      </p>
    </ConfirmAction>
  );
}

function OfferAgain({ task }: { task: TaskDetail }) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: useTakeBack(task, `“${task.title}” is not stopped any more.`),
  });
  return (
    <>
      {error && <Failure error={error} />}
      <button type="button" disabled={isPending} onClick={() => mutate()}>
        Offer again
      </button>
    </>
  );
}

/** Returns a function that ends the claim on a task, frees a task that is stopped, and says so. */
function useTakeBack({ id, title }: TaskDetail, done: string): () => Promise<void> {
  const client = useClient();
  const queries = useQueryClient();
  const { say } = useNotices();
  return async () => {
    try {
      await client.takeBackTask({ params: { id } });
      say(done);
    } catch (error) {
      // For example, the worker has released the task in the meantime. Then this button and its dialog are absent.
      if (!(error instanceof CrewboardError && error.code === 'not_found')) throw error;
      say(`“${title}” was neither claimed nor stopped any more.`);
    }
    await queries.invalidateQueries({ queryKey: ['tasks'] });
  };
}

/** Returns whether an error is about a claim that has ended since. */
export function isOfEndedClaim(error: unknown, { claim }: TaskDetail): boolean {
  return claim === undefined && error instanceof CrewboardError && error.code === 'task_claimed';
}
