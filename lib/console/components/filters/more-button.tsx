/** The button at the end of a list that reads its next page; absent at the end. */
export function MoreButton(props: { hasMore: boolean; isReading: boolean; read: () => unknown }) {
  if (!props.hasMore) return null;
  return (
    <button type="button" className="more" disabled={props.isReading} onClick={() => void props.read()}>
      {props.isReading ? 'Loading…' : 'Load more'}
    </button>
  );
}
