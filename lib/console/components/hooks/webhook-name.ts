import { shortId } from '../page.tsx';
import { useWebhooks } from './use-webhooks.ts';

/** Returns the name of a webhook for people: its description, else its URL. */
export function webhookName({ description, url }: { description?: string | undefined; url: string }): string {
  return description?.trim() || url;
}

/** Returns the name of the webhook with an id; its short id until the name is read, and if the webhook is deleted. */
export function useWebhookName(id: string): string {
  const webhook = useWebhooks().data?.find((one) => one.id === id);
  return webhook ? webhookName(webhook) : shortId(id);
}
