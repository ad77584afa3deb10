import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Ending } from './execution-items.ts';
import { keys } from './keys.ts';
import type { Write } from './transact.ts';

/** A bucket of the histogram of durations is a tenth wider than the one before: its middle is within 5 % of all in it. */
const growth = 1.1;

/** The bucket of a duration in milliseconds; 0 for less than one, then from 1 on, on a logarithmic scale. */
function bucketOf(durationMs: number): number {
  return durationMs < 1 ? 0 : 1 + Math.floor(Math.log(durationMs) / Math.log(growth));
}

/**
 * The write that counts a finished execution: how it ended, its tokens, its duration as part of a sum, and in a
 * histogram. It goes into the transaction that ends the execution, so that each is counted once (design §4).
 *
 * @param startedAt the execution belongs to this moment's UTC day; ISO 8601
 */
export function metricsWrite(
  organization: Organization,
  agentId: string,
  startedAt: string,
  { status, tokensUsed, durationMs }: Ending,
): Write {
  return {
    Update: {
      Key: keys.metricsOfDay(organization, ulidOf(agentId), startedAt.slice(0, 10)),
      UpdateExpression: 'ADD #status :one, #tokens :tokens, #durationMs :durationMs, #bucket :one',
      ExpressionAttributeNames: {
        '#status': status,
        '#tokens': 'tokens',
        '#durationMs': 'durationMs',
        '#bucket': `h${bucketOf(durationMs)}`,
      },
      ExpressionAttributeValues: { ':one': 1, ':tokens': tokensUsed, ':durationMs': durationMs },
    },
  };
}
