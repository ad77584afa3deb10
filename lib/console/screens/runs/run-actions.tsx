import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Execution } from '../../../client/operations.ts';
import { ConfirmAction } from '../../components/dialogs/confirm.tsx';
import { useNotices } from '../../components/notices.tsx';
import { useClient, useScope } from '../../session.ts';

/** What can be done with an execution: cancel it while it runs, run it again, and run its agent with a changed input. */
export function RunActions({ execution }: { execution: Execution }) {
  const canExecute = useScope('agents:execute');
  if (!canExecute) return null;
  return (
    <>
      {execution.status === 'running' && <CancelRun execution={execution} />}
      <Link
        className="button"
        to="/agents/$name"
        params={{ name: execution.agentName }}
        search={{ tab: 'try', from: execution.id }}
      >
        Change and run
      </Link>
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
  async function cancel(): Promise<void> {
    try {
      await client.cancelExecution({ params: { name: agentName, id } });
      say('The run is cancelled.');
    } catch (error) {
      // For example, the execution has ended in the meantime. Then this button and its dialog are absent.
      fail(error);
    } finally {
      await queries.invalidateQueries({ queryKey: ['executions'] });
    }
  }
  return (
    <ConfirmAction
      button="Cancel"
      title="Cancel this run?"
      label="Cancel the run"
      keep="Keep running"
      isDestructive
      act={cancel}
    >
      <p>
        The run ends as failed, and its output is lost. The runs that it has delegated end too.
        {taskId && ' If it moved its task to in progress, the task moves back to assigned.'}
      </p>
    </ConfirmAction>
  );
}
