import type { Evidence } from './evidence.ts';
import { recountAttempts } from './recount-attempts.ts';
import { recountBoard } from './recount-board.ts';
import { recountDeliveries } from './recount-deliveries.ts';
import { recountPosts } from './recount-posts.ts';

/** What a recount comes to. `lost` is everything that is not as it must be, in words. */
export type Recount = { lost: string[]; deliveries: Record<string, number>; attempts: number; duplicates: number };

/** Recounts what the service has answered for: nothing may be lost, made up or done twice without a fault to explain it. */
export function recount(evidence: Evidence): Recount {
  const posts = evidence.webhooks.map((webhook) => recountPosts(webhook, evidence));
  const lost = [
    ...recountBoard(evidence),
    ...evidence.webhooks.flatMap((webhook) => [
      ...recountDeliveries(webhook, evidence.ledger),
      ...recountAttempts(webhook),
    ]),
    ...posts.flatMap((counted) => counted.lost),
    ...evidence.due.map((key) => `${key} is still in the due index`),
  ];
  const deliveries: Record<string, number> = {};
  for (const { state } of evidence.webhooks.flatMap((webhook) => webhook.deliveries))
    deliveries[state] = (deliveries[state] ?? 0) + 1;
  return {
    lost,
    deliveries,
    attempts: evidence.webhooks.reduce((sum, { attempts }) => sum + attempts.length, 0),
    duplicates: posts.reduce((sum, { duplicates }) => sum + duplicates, 0),
  };
}
