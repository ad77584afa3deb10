import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useNotices } from '../components/notices.tsx';
import { useMissingScopes } from '../navigation.ts';
import { nouns } from '../queries.ts';
import { useClient, useSession } from '../session.ts';

/**
 * A button that loads the demo board, with what it creates and what it costs, beside another action. Without the scopes for it,
 * only that action is there.
 */
export function LoadDemo({ children }: { children?: ReactNode }) {
  const client = useClient();
  const queries = useQueryClient();
  const { say, fail } = useNotices();
  const missingOf = useMissingScopes();
  const load = useMutation({
    // Few users need it, so the first screen does not load it.
    mutationFn: async () => (await import('./load-demo.ts')).loadDemo(client),
    onSuccess: ({ tasks, agents, runs }) => {
      const ran = runs > 0 ? `, ${agents} agents and ${runs} runs` : ` and ${agents} agents`;
      say(`The demo board is loaded: ${tasks} tasks${ran}.`);
    },
    onError: fail,
    onSettled: () => Promise.all(['demo', ...nouns].map((noun) => queries.invalidateQueries({ queryKey: [noun] }))),
  });
  if (missingOf(['tasks:read', 'tasks:write', 'agents:read', 'agents:write']).length > 0) return children;
  return (
    <>
      <div className="actions">
        {children}
        <button
          type="button"
          className={children ? undefined : 'primary'}
          disabled={load.isPending}
          onClick={() => load.mutate()}
        >
          {load.isPending ? 'Loading the demo board…' : 'Load a demo board'}
        </button>
      </div>
      <p className="demo-note">
        The demo has about 15 tasks in the project <code>proj_demo</code> and the agents <code>demo-lead</code>,{' '}
        <code>demo-writer</code> and <code>demo-reviewer</code>. <Runs /> The overview offers to remove all of it later.
      </p>
    </>
  );
}

/** Says whether the agents of the demo run, and what that costs. */
function Runs() {
  const { simulatedModel, scopes } = useSession().me;
  if (!simulatedModel)
    return 'The agents do not run, because the tokens of the model can cost money: it costs no tokens.';
  if (!scopes.includes('agents:execute'))
    return 'The agents do not run, because your access token lacks agents:execute.';
  return 'The agents run with the built-in simulator, which costs nothing.';
}
