import { Link } from '@tanstack/react-router';
import { Empty } from '../../components/page.tsx';
import { LoadDemo } from '../../demo/load-demo.tsx';
import { useMissingScopes } from '../../navigation.ts';
import type { Scope } from '../../session.ts';

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
      <LoadDemo />
    </Empty>
  );
}
