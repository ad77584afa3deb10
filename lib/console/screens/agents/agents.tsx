import { PageHead } from '../../components/page.tsx';

/** The list of agents. */
export function Agents() {
  return <PageHead title="Agents" />;
}
