import type { UseQueryResult } from '@tanstack/react-query';
import type { LinkProps } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Failure } from '../../components/failure.tsx';

type Props<Data> = {
  title: string;
  link: Pick<LinkProps, 'to' | 'search'>;
  query: UseQueryResult<Data>;
  isLoading: boolean;
  children: (data: Data) => ReactNode;
};

/** A part of the overview. Its title is a link to the screen with more. */
export function Tile<Data>({ title, link, query, isLoading, children }: Props<Data>) {
  return (
    <section className="panel tile" aria-label={title}>
      <h2>
        <Link {...link}>{title}</Link>
      </h2>
      {query.error && <Failure error={query.error} retry={() => void query.refetch()} />}
      {!query.error && (isLoading || query.data === undefined) && (
        <div className="tile-loading" role="status" aria-label={`${title}: loading`} />
      )}
      {!query.error && !isLoading && query.data !== undefined && children(query.data)}
    </section>
  );
}

/** Returns a number with its unit in the right grammatical number: `1 run`, `2,000 runs`. */
export function counted(count: number, unit: string): string {
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
}
