import * as v from 'valibot';
import { described, id, label, oneOf, Timestamp, text } from '../shapes.ts';

/** The id of a claim. Whoever names it renews, releases or changes the task for the worker. */
export const ClaimId = id('cl', 'a claim');

/** The name that a worker gives itself. It is shown and logged, and decides nothing. */
export const WorkerName = described(label(100), 'A name for people.');

/** What a worker says about its work. */
export const ClaimNote = described(text(1, 1_000), 'A note.');

/** How long a claim lasts without a renewal, in seconds. */
export const claimSeconds = { least: 60, most: 86_400, usual: 900 } as const;

export const LeaseSeconds = described(
  v.pipe(
    v.number('must be a number'),
    v.integer('must be a whole number'),
    v.minValue(claimSeconds.least, `must be at least ${claimSeconds.least}`),
    v.maxValue(claimSeconds.most, `must be at most ${claimSeconds.most}`),
  ),
  `How long the claim lasts from now on, in seconds. ${claimSeconds.usual} by default.`,
);

/** The claim of a worker on a task, as long as it lasts. */
export const Claim = v.object({
  id: ClaimId,
  worker: v.string(),
  expiresAt: described(Timestamp, 'The claim has no force from this time on, unless it is renewed before.'),
  note: v.optional(described(v.string(), 'The latest note of the worker.')),
});
export type Claim = v.InferOutput<typeof Claim>;

/** Why a task is not offered to workers, and since when. */
export const Stopped = v.object({ reason: v.string(), at: Timestamp });
export type Stopped = v.InferOutput<typeof Stopped>;

/** Why a claim has ended. */
const claimEndReasons = ['released', 'expired', 'taken_back', 'failed'] as const;
export const ClaimEndReason = oneOf(claimEndReasons);
export type ClaimEndReason = v.InferOutput<typeof ClaimEndReason>;

/** The maximum number of claims in a row that workers release as failed. After that the task is stopped. */
export const failedClaimsLimit = 3;
