import { openHistory } from '../table/history.ts';
import { openWebhookStore } from '../table/webhooks.ts';
import { openWebhooks } from '../webhooks/webhooks.ts';
import { appOf } from './base.ts';

/** The app of functions that show webhooks and their history, and delete them. */
export const webhooksApp = appOf(({ table, clock }) => ({
  webhooks: openWebhooks({ store: openWebhookStore(table), history: openHistory(table), clock }),
}));
