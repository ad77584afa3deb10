import { Link } from '@tanstack/react-router';
import type { TaskDetail } from '../../../../client/operations.ts';
import { useScope } from '../../../session.ts';

/** What is said of a task that starts by itself, by what it waits for. `WaitsFor` names the dependencies. */
const waitingTexts = {
  running: 'Starts by itself now, or when another run of its agent ends.',
  limit: 'Starts by itself when a limit of the organization allows it.',
} as const;

/** What is said of a task that a person has to start. */
const heldTexts = {
  chain: 'A person has to start this task: agents have passed it on.',
  no_delegate: 'A person has to start this task: the agent that passed it on may not delegate.',
} as const;

/** Says what happens next with a task that waits for an agent that starts by itself; nothing of another task. */
export function NextStart({ task }: { task: TaskDetail }) {
  const { autoRun, claim } = task;
  if (!autoRun || claim) return null;
  const { state, reason = '' } = autoRun;
  if (state === 'stopped') return <Stopped task={task} {...autoRun} />;
  // A reason of a later version has no text here.
  const texts: Record<string, string> = state === 'held' ? heldTexts : waitingTexts;
  const text = texts[reason];
  return text === undefined ? null : <p className={state === 'held' ? 'next-start is-held' : 'next-start'}>{text}</p>;
}

type StoppedProps = { task: TaskDetail; executionId?: string; error?: string };

function Stopped({ task: { assignedAgent = '' }, executionId, error }: StoppedProps) {
  const canReadAgents = useScope('agents:read');
  if (executionId === undefined)
    return <p className="next-start is-held">A person has to start this task: its agent does not try it again.</p>;
  const run = error === 'cancelled' ? 'the run that was cancelled' : 'the run that failed';
  return (
    <p className="next-start is-held">
      Does not start again after{' '}
      {canReadAgents ? (
        <Link to="/runs/$agent/$id" params={{ agent: assignedAgent, id: executionId }}>
          {run}
        </Link>
      ) : (
        run
      )}
      {error && error !== 'cancelled' ? `: ${error}` : '.'}
    </p>
  );
}
