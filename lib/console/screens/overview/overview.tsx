import { PageHead } from '../../components/page.tsx';

/** The start page. */
export function Overview() {
  return <PageHead title="Overview" />;
}
