import { PageHead } from '../../components/page.tsx';

/** The list of executions. */
export function Runs() {
  return <PageHead title="Runs" />;
}
