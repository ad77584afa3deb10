import { PageHead } from '../../components/page.tsx';

/** The live event log. */
export function Events() {
  return <PageHead title="Events" />;
}
