import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Execution } from '../../../client/operations.ts';
import { CopyableId } from '../../components/copyable-id.tsx';
import { Fact, FactBar } from '../../components/fact-bar.tsx';
import { tokensText } from '../../components/format/tokens-text.ts';
import { oneTask } from '../../components/hooks/one-task.ts';
import { RunTime } from '../../components/run-time.tsx';
import { Ago } from '../../components/time.tsx';
import { useClient, useScope } from '../../session.ts';

/** The facts of an execution, as names and values. */
export function RunFacts({ execution }: { execution: Execution }) {
  const { id, agentName, taskId, startedAt, durationMs, model, promptHash, delegationId, startedBy } = execution;
  return (
    <FactBar>
      <Fact name="Agent">
        <Link to="/agents/$name" params={{ name: agentName }}>
          {agentName}
        </Link>
      </Fact>
      <Fact name="Task">{taskId ? <TaskLink id={taskId} /> : none}</Fact>
      <Fact name={startedBy?.kind === 'auto_run' ? 'Started by itself' : 'Started'}>
        <Ago at={startedAt} />
      </Fact>
      <Fact name="Duration">
        <RunTime startedAt={startedAt} durationMs={durationMs} />
      </Fact>
      <Fact name="Tokens">{tokensText(execution) ?? none}</Fact>
      <Fact name="Model">
        <span className="mono">{model}</span>
      </Fact>
      <Fact name="Prompt">
        {promptHash ? (
          <Link
            className="mono"
            to="/agents/$name"
            params={{ name: agentName }}
            search={{ tab: 'versions' }}
            title={promptHash}
          >
            {promptHash.slice(0, 'sha256:'.length + 8)}…
          </Link>
        ) : (
          none
        )}
      </Fact>
      {delegationId && (
        <Fact name="Delegation">
          <CopyableId id={delegationId} />
        </Fact>
      )}
      <Fact name="Run id">
        <CopyableId id={id} />
      </Fact>
    </FactBar>
  );
}

/** The task of an execution: its title, else its id, since it may be deleted. It is no link for a token that may not read tasks. */
function TaskLink({ id }: { id: string }) {
  const client = useClient();
  const canReadTasks = useScope('tasks:read');
  const { data, isLoading } = useQuery({ ...oneTask(client, id), enabled: canReadTasks });
  const title = isLoading ? '…' : data?.data.title;
  if (!canReadTasks)
    return (
      <span className="run-task mono" title={id}>
        {id}
      </span>
    );
  return (
    <Link className={title ? 'run-task ellipsis' : 'run-task mono'} to="/board" search={{ task: id }} title={id}>
      {title ?? id}
    </Link>
  );
}

const none = <span className="muted">–</span>;
