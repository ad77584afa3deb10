import { PageHead } from '../../components/page.tsx';

/** The list of webhooks. */
export function Webhooks() {
  return <PageHead title="Webhooks" />;
}
