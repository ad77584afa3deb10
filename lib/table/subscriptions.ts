import { inBatches } from '../batching/in-batches.ts';
import type { EventName } from '../contract/events.ts';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { queryItems } from './reads.ts';

/** Who asks which webhooks hear an event. */
type Asked = { organization: Organization; event: EventName };

/** Opens what webhooks hear, for those who send to them. Registration and deletion write it; see `webhooks.ts`. */
export function openSubscriptions(table: Table) {
  const read = inBatches(
    Number.POSITIVE_INFINITY,
    (asked: Asked[]) => Promise.all(asked.map(readOne)),
    ({ organization, event }) => `${organization} ${event}`,
  );

  async function readOne({ organization, event }: Asked): Promise<string[]> {
    const items = await Array.fromAsync(queryItems(table, { pk: keys.subscriptions(organization, event) }));
    return items.map((item) => `wh_${item.sk}`);
  }

  return {
    /**
     * The ids of the webhooks that hear an event, as it is now. Those who ask at the same moment share one read, which
     * begins after each of them has asked: it sees every webhook that was registered before.
     */
    hearing: (organization: Organization, event: EventName): Promise<string[]> => read({ organization, event }),
  };
}

export type Subscriptions = ReturnType<typeof openSubscriptions>;
