import { fc } from '../../../seeded.ts';
import type { ReceiverMode } from '../sequence.ts';

/** What happens to a webhook of the started service, some milliseconds after the step before was sent. */
export type ShortStep = { after: number } & (
  | { does: 'publish'; events: number }
  | { does: 'pause' | 'resume' | 'pause and resume' }
  | { does: 'set rate'; maxPerSecond: number | null }
  | { does: 'set receiver'; mode: ReceiverMode }
  | { does: 'redeliver'; event: number }
);

const step = fc.tuple(
  fc.constantFrom(0, 0, 20, 200, 600, 1_500),
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ does: fc.constant('publish' as const), events: fc.constantFrom(1, 2, 4) }) },
    { weight: 4, arbitrary: fc.record({ does: fc.constantFrom('pause' as const, 'resume', 'pause and resume') }) },
    {
      weight: 1,
      arbitrary: fc.record({ does: fc.constant('set rate' as const), maxPerSecond: fc.constantFrom(null, 1, 5) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        does: fc.constant('set receiver' as const),
        mode: fc.constantFrom<ReceiverMode>('healthy', 'failing', 'slow'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('redeliver' as const), event: fc.nat(3) }) },
  ),
);

/** Short sequences for a webhook of its own; `steps` begin with events that wait. */
export const shortSequence = fc
  .array(step, { minLength: 2, maxLength: 6 })
  .map((steps) => steps.map(([after, rest]): ShortStep => ({ after, ...rest })))
  .map((steps): ShortStep[] => [{ after: 0, does: 'publish', events: 2 }, ...steps]);
