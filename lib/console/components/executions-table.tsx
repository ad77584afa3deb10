import { Link } from '@tanstack/react-router';
import type { ExecutionListItem, QualityGates } from '../../client/operations.ts';
import { useScope } from '../session.ts';
import { AgentBadge } from './agent-badge.tsx';
import { gateNames, gates } from './format/gate-names.ts';
import { tokensText } from './format/tokens-text.ts';
import { RunStatus, shortId } from './page.tsx';
import { RunTime } from './run-time.tsx';
import { Ago } from './time.tsx';

/** Executions, one a row. The whole row is a link to the execution. */
export function ExecutionsTable({ executions, label }: { executions: readonly ExecutionListItem[]; label: string }) {
  const canReadTasks = useScope('tasks:read');
  return (
    <div className="table fitted">
      <table className="executions linked-rows stacked" aria-label={label}>
        <thead>
          <tr>
            <th>Status</th>
            <th>Run</th>
            <th>Agent</th>
            <th className="if-wide">Task</th>
            <th>Gates</th>
            <th className="number if-wide">Steps</th>
            <th className="number if-wide">Tokens</th>
            <th className="number duration">Duration</th>
            <th className="number">Started</th>
          </tr>
        </thead>
        <tbody>
          {executions.map(({ id, agentName, taskId, status, startedAt, durationMs, stepCount, ...more }) => (
            <tr key={id}>
              <td>
                <RunStatus run={{ status, ...more }} />
              </td>
              <td className="wide">
                <RunLink execution={{ id, agentName, ...more }} />
              </td>
              <td className="agent" title={agentName}>
                <AgentBadge name={agentName} />
                <span className="agent-name ellipsis" aria-hidden="true">
                  {agentName}
                </span>
              </td>
              <td className="if-wide">
                {taskId === undefined ? (
                  <span className="muted">–</span>
                ) : canReadTasks ? (
                  <Link className="mono" to="/board" search={{ task: taskId }} title={taskId}>
                    {shortId(taskId)}
                  </Link>
                ) : (
                  <span className="mono" title={taskId}>
                    {shortId(taskId)}
                  </span>
                )}
              </td>
              <td className="gate-marks">
                <Gates results={more.qualityGates} />
              </td>
              <td className="number if-wide">{stepCount ?? <span className="muted">–</span>}</td>
              <td className="number if-wide">{tokensText(more) ?? <span className="muted">–</span>}</td>
              <td className="number duration">
                <RunTime startedAt={startedAt} durationMs={durationMs} />
              </td>
              <td className="number muted when">
                <Ago at={startedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What an execution is about, as a link to it: the title of its task, else the start of its input. On hover, also its id. */
function RunLink({
  execution,
}: {
  execution: Pick<ExecutionListItem, 'id' | 'agentName' | 'taskTitle' | 'inputStart'>;
}) {
  const { id, agentName, taskTitle, inputStart = '' } = execution;
  // The start of an input can be blank.
  const subject = taskTitle ?? (inputStart.trim() || shortId(id));
  return (
    <Link className="row-link" to="/runs/$agent/$id" params={{ agent: agentName, id }} title={`${subject}\n${id}`}>
      {subject}
    </Link>
  );
}

const gateMarks = { passed: '✓', failed: '✕', skipped: '–', pending: '–' } as const;

/** The results of the self-test and the QA review, a sign each. */
function Gates({ results }: { results: QualityGates | undefined }) {
  if (!results) return <span className="muted">–</span>;
  return gates.map((gate) => {
    const result = results[gate];
    const label = `${gateNames[gate]} ${result}`;
    return (
      <span key={gate} role="img" className={`gate-mark gate-${result}`} aria-label={label} title={label}>
        {gateMarks[result]}
      </span>
    );
  });
}
