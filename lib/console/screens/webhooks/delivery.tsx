import { PageHead } from '../../components/page.tsx';

/** A delivery with its attempts. */
export function Delivery() {
  return <PageHead title="Delivery" />;
}
