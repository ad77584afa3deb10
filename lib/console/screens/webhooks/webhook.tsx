import { PageHead } from '../../components/page.tsx';

/** A webhook with its deliveries. */
export function Webhook() {
  return <PageHead title="Webhook" />;
}
