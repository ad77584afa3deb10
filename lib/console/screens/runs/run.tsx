import { PageHead } from '../../components/page.tsx';

/** An execution with its steps. */
export function Run() {
  return <PageHead title="Run" />;
}
