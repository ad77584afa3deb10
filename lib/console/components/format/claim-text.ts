import type { ClaimEventData } from '../../../client/operations.ts';

/** Returns what an event says about a claim: its worker, and why it has ended, such as `laptop 1: taken back`. */
export function claimText({ claim: { worker }, reason }: Pick<ClaimEventData, 'claim' | 'reason'>): string {
  return reason === undefined ? worker : `${worker}: ${reason.replaceAll('_', ' ')}`;
}
