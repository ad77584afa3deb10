import { PageHead } from '../../components/page.tsx';

/** The board of tasks. */
export function Board() {
  return <PageHead title="Board" />;
}
