import { PageHead } from '../../components/page.tsx';

/** An agent. */
export function Agent() {
  return <PageHead title="Agent" />;
}
