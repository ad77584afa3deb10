import type { DeliveryStore } from '../../../lib/table/deliveries.ts';
import type { WebhookStore } from '../../../lib/table/webhooks.ts';
import type { Faults } from './faults.ts';

/** Deliveries whose calls of the table have names. */
export function namedDeliveries(store: DeliveryStore, { step }: Faults): DeliveryStore {
  return {
    ...store,
    put: (...given) => step('put', () => store.put(...given)),
    claim: (...given) => step('claim', () => store.claim(...given)),
    end: (...given) => step('end', () => store.end(...given)),
    skip: (...given) => step('skip', () => store.skip(...given)),
    postpone: (...given) => step('postpone', () => store.postpone(...given)),
    async *due(until) {
      yield* await step('list', () => Array.fromAsync(store.due(until)));
    },
  };
}

/** Webhooks whose calls of the table have names. */
export function namedWebhooks(store: WebhookStore, { step }: Faults): WebhookStore {
  return {
    ...store,
    hearing: (...given) => step('hear', () => store.hearing(...given)),
    target: (...given) => step('target', () => store.target(...given)),
  };
}
