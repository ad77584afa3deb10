import { useQuery } from '@tanstack/react-query';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { PageHead } from '../../components/page.tsx';
import { RemoveDemo } from '../../demo/remove-demo.tsx';
import { useClient, useScope } from '../../session.ts';
import { FirstSteps } from './first-steps.tsx';
import { LatestEvents, LatestRuns } from './latest.tsx';
import { latestExecutions, taskCounts } from './queries.ts';
import { ReceiversTile } from './receivers-tile.tsx';
import { RunningTile, TasksTile, TodayTile } from './tiles.tsx';
import { WaitingForReview } from './waiting-for-review.tsx';

/** The start page: what waits for a review, what runs, what fails, and what happened last. */
export function Overview() {
  const client = useClient();
  const canReadTasks = useScope('tasks:read');
  const canReadAgents = useScope('agents:read');
  const canReadWebhooks = useScope('webhooks:read');
  const tasks = useQuery({ ...taskCounts(client), enabled: canReadTasks });
  const executions = useQuery({ ...latestExecutions(client), enabled: canReadAgents });
  // Until both are known, an organization may be new: then nothing is shown that the first steps would replace.
  const isLoading = tasks.isLoading || executions.isLoading;
  const isNew = tasks.data?.total === 0 && (!canReadAgents || executions.data?.pagination.total === 0);
  return (
    <>
      <PageHead title="Overview">
        <RemoveDemo />
        {canReadTasks && <CopyAsCurl operation="countTasks" request={{ query: { group_by: 'status' } }} />}
      </PageHead>
      {isNew && <FirstSteps />}
      {!isNew && (
        <div className="overview" aria-busy={isLoading}>
          {canReadTasks && <WaitingForReview isLoading={isLoading} />}
          <div className="tiles">
            {canReadAgents && <RunningTile isLoading={isLoading} />}
            {canReadTasks && <TasksTile isLoading={isLoading} />}
            {canReadAgents && <TodayTile isLoading={isLoading} />}
            {canReadWebhooks && <ReceiversTile isLoading={isLoading} />}
          </div>
          <div className="latest">
            {canReadAgents && <LatestRuns isLoading={isLoading} />}
            {canReadWebhooks && <LatestEvents isLoading={isLoading} />}
          </div>
        </div>
      )}
    </>
  );
}
