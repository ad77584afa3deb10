import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Execution } from '../../../client/operations.ts';
import { Modal } from '../../components/dialog.tsx';
import { useNotices } from '../../components/notices.tsx';
import { useClient, useScope } from '../../session.ts';

/** The buttons of an execution: cancel it while it runs, and run it again. */
export function RunActions({ execution }: { execution: Execution }) {
  const canExecute = useScope('agents:execute');
  if (!canExecute) return null;
  return (
    <>
      {execution.status === 'running' && <CancelRun execution={execution} />}
      <RunAgain execution={execution} />
    </>
  );
}

function RunAgain({ execution: { agentName, id } }: { execution: Execution }) {
  const client = useClient();
  const navigate = useNavigate();
  const { say, fail } = useNotices();
  const rerun = useMutation({
    mutationFn: () => client.rerunExecution({ params: { name: agentName, id } }),
    onSuccess: ({ data }) => {
      say('The new run has started. It has the current prompt and model of the agent.');
      return navigate({ to: '/runs/$agent/$id', params: { agent: data.agentName, id: data.executionId } });
    },
    onError: fail,
  });
  return (
    <button type="button" disabled={rerun.isPending} onClick={() => rerun.mutate()}>
      Run again
    </button>
  );
}

function CancelRun({ execution: { agentName, id, taskId } }: { execution: Execution }) {
  const client = useClient();
  const queries = useQueryClient();
  const { say, fail } = useNotices();
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const cancel = useMutation({
    mutationFn: () => client.cancelExecution({ params: { name: agentName, id } }),
    onSuccess: () => say('The run is cancelled.'),
    // For example, the execution has ended in the meantime.
    onError: fail,
    onSettled: () => {
      close();
      return queries.invalidateQueries({ queryKey: ['executions'] });
    },
  });
  return (
    <>
      <button type="button" className="destructive" onClick={() => setOpen(true)}>
        Cancel
      </button>
      <Modal title="Cancel this run?" open={isOpen} onClose={close}>
        <div className="form">
          <p>
            The run ends as failed, and its output is lost.
            {taskId && ' If it moved its task to in progress, the task moves back to assigned.'}
          </p>
          <div className="actions">
            <button type="button" className="destructive" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
              Cancel the run
            </button>
            <button type="button" onClick={close}>
              Keep running
            </button>
          </div>
        </div>
      </Modal>
    </>
  );
}
