import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useNotices } from '../../components/notices.tsx';
import { Empty } from '../../components/page.tsx';
import { useMissingScopes } from '../../navigation.ts';
import { type Scope, useClient } from '../../session.ts';

/** The overview of a new organization. */
export function FirstSteps() {
  const missingOf = useMissingScopes();
  const has = (...scopes: Scope[]) => missingOf(scopes).length === 0;
  const canWriteTasks = has('tasks:write');
  const canWriteAgents = has('agents:read', 'agents:write');
  const canExecute = has('agents:read', 'agents:execute');
  const canRegister = has('webhooks:read', 'webhooks:write');
  if (!canWriteTasks && !canWriteAgents && !canRegister)
    return (
      <Empty title="This organization has no tasks yet">
        <p>Your access token may only read. What others create appears here.</p>
      </Empty>
    );
  return (
    <Empty title="This organization has no tasks yet">
      <ol className="first-steps">
        {canWriteAgents && (
          <li>
            <Link to="/agents" search={{ create: 'agent' }}>
              Create an agent
            </Link>{' '}
            and give it a prompt.
          </li>
        )}
        {canWriteTasks && (
          <li>
            <Link to="/board" search={{ create: 'backlog' }}>
              Create a task
            </Link>{' '}
            on the board, and assign it to the agent.
          </li>
        )}
        {canExecute && <li>Run the agent on the task, and look at its steps.</li>}
        {canRegister && (
          <li>
            <Link to="/webhooks" search={{ create: 'webhook' }}>
              Register a webhook
            </Link>
            , so that your own service gets the events.
          </li>
        )}
      </ol>
      {canWriteTasks && canWriteAgents && <DemoBoard />}
    </Empty>
  );
}

function DemoBoard() {
  const client = useClient();
  const { say, fail } = useNotices();
  const load = useMutation({
    // Few users need it, so the first screen does not load it.
    mutationFn: async () => (await import('./demo-board.ts')).loadDemoBoard(client),
    onSuccess: ({ tasks, agents }) => say(`The demo board is loaded: ${tasks} tasks and ${agents} agents.`),
    onError: fail,
  });
  return (
    <>
      <button type="button" className="primary" disabled={load.isPending} onClick={() => load.mutate()}>
        {load.isPending ? 'Loading the demo board…' : 'Load a demo board'}
      </button>
      <p className="demo-note">
        It creates 12 tasks in the project <code>proj_demo</code> and the agents <code>demo-writer</code> and{' '}
        <code>demo-reviewer</code>. To remove it, filter the board by this project and delete its tasks; then delete the
        two agents.
      </p>
    </>
  );
}
