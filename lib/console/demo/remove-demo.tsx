import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ConfirmAction } from '../components/dialogs/confirm.tsx';
import { useNotices } from '../components/notices.tsx';
import { useMissingScopes } from '../navigation.ts';
import { nouns } from '../queries.ts';
import { useClient } from '../session.ts';
import { demoProject } from './demo-project.ts';

/** A button that removes the demo board after a question, if there is one. */
export function RemoveDemo() {
  const client = useClient();
  const queries = useQueryClient();
  const { say, fail } = useNotices();
  const missingOf = useMissingScopes();
  const canDelete = missingOf(['tasks:read', 'tasks:write']).length === 0;
  const mayDeleteAgents = missingOf(['agents:read', 'agents:write']).length === 0;
  // Not a noun of events: it is read once, and after the demo was loaded or removed.
  const { data: tasks = 0 } = useQuery({
    queryKey: ['demo'],
    queryFn: async ({ signal }) =>
      (await client.listTasks({ query: { project_id: demoProject, limit: 1 }, signal })).pagination.total,
    enabled: canDelete,
  });
  if (!canDelete || tasks === 0) return null;
  return (
    <ConfirmAction
      button="Remove the demo"
      title="Remove the demo?"
      label="Remove the demo"
      isQuiet
      isDestructive
      act={async () => {
        const { removeDemo } = await import('./remove-demo.ts');
        const removed = await removeDemo(client, mayDeleteAgents);
        say(`The demo is removed: ${removed.tasks} tasks and ${removed.agents} agents.`);
        if (removed.kept.length > 0) fail(new Error(removed.kept.join(' ')));
        await Promise.all(['demo', ...nouns].map((noun) => queries.invalidateQueries({ queryKey: [noun] })));
      }}
    >
      <p>
        It deletes <strong>all tasks of the project proj_demo</strong>, also those that you and your agents have put
        there
        {mayDeleteAgents
          ? ', and the agents demo-lead, demo-writer and demo-reviewer with their runs.'
          : '. It keeps the agents of the demo, because your access token may not delete them.'}
      </p>
      <p>
        It keeps all other tasks, agents and webhooks; the events in the log, for 90 days; the numbers of the runs in
        the metrics of the organization; tasks that a worker has claimed or on which other tasks depend; and agents with
        these names that have another description.
      </p>
    </ConfirmAction>
  );
}
