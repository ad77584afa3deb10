import { MoreButton } from '../../components/filters/more-button.tsx';

/** The state of a list that is loaded page by page. */
type PagedQuery = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };

/** The end of a list: how many items it shows of the exact total, and a button for the next page. */
export function LoadMore(props: { query: PagedQuery; shown: number; total: number; noun: string; plural?: string }) {
  const { query, shown, total, noun, plural = `${noun}s` } = props;
  return (
    <p className="load-more muted">
      <span>
        {shown === total ? total : `${shown} of ${total}`} {total === 1 ? noun : plural}
      </span>
      <MoreButton hasMore={query.hasNextPage} isReading={query.isFetchingNextPage} read={query.fetchNextPage} />
    </p>
  );
}
