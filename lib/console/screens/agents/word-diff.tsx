import { diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';

/** The longest texts that are compared, in characters, and the time of a comparison in milliseconds. */
const longest = 200_000;
const timeout = 200;

/** Shows what changed from one text to the other, word by word. */
export function WordDiff({ from, to }: { from: string; to: string }) {
  const parts = useMemo(
    () => (from.length + to.length > longest ? undefined : diffWordsWithSpace(from, to, { timeout })),
    [from, to],
  );
  if (from === to) return <p className="muted">This is the text of the current prompt.</p>;
  if (!parts)
    return (
      <>
        <p className="muted">The texts are too different to compare word by word. This is the text of the version:</p>
        <pre className="diff">{from}</pre>
      </>
    );
  return (
    <pre className="diff">
      {parts.map(({ value, added, removed }, at) => {
        const Part = added ? 'ins' : removed ? 'del' : 'span';
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other identity
        return <Part key={at}>{value}</Part>;
      })}
    </pre>
  );
}
