import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Failure } from '../../components/failure.tsx';
import { Status } from '../../components/page.tsx';
import { Ago } from '../../components/time.tsx';
import { useClient } from '../../session.ts';
import { tasksInReview } from './queries.ts';

/** The number of tasks that wait for a review, and the newest of them. Each link opens the panel of its task. */
export function WaitingForReview({ isLoading }: { isLoading: boolean }) {
  const { data, error, refetch } = useQuery(tasksInReview(useClient()));
  return (
    <section className="panel in-review" aria-label="Waiting for review">
      <h2>Waiting for review</h2>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!error && (isLoading || !data) && (
        <div className="tile-loading" role="status" aria-label="Waiting for review: loading" />
      )}
      {!error && !isLoading && data && (
        <>
          <p className="figure">{data.pagination.total.toLocaleString('en')}</p>
          {data.data.length === 0 && <p className="muted">No task waits for a review.</p>}
          <ul>
            {data.data.map(({ id, title, status, assignedAgent, createdAt }) => (
              <li key={id}>
                <Link className="ellipsis" to="/board" search={{ task: id }} title={title}>
                  {title}
                </Link>
                <span className="muted ellipsis">{assignedAgent}</span>
                <Status value={status} />
                <span className="muted">
                  <Ago at={createdAt} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
