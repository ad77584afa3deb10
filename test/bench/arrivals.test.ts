import { expect, it } from 'vitest';
import { type Arrival, faultsOf, latenciesOf } from './arrivals.ts';

const arrival = (path: string, deliveryId: string, at = 0): Arrival => ({ path, deliveryId, at, title: 'an event' });

it('finds no fault where every path got every delivery once', () => {
  const arrivals = [arrival('/1', 'a'), arrival('/2', 'b'), arrival('/1', 'c'), arrival('/2', 'd')];
  expect(faultsOf(arrivals, ['/1', '/2'], 2)).toEqual([]);
});

it.each([
  ['is missing', [arrival('/1', 'a')], ['/1 got 1 deliveries instead of 2.']],
  ['never came at all', [], ['/1 got 0 deliveries instead of 2.']],
  ['came twice', [arrival('/1', 'a'), arrival('/1', 'b'), arrival('/1', 'b')], ['/1 got 1 deliveries more than once.']],
  [
    'came twice in place of another',
    [arrival('/1', 'a'), arrival('/1', 'a')],
    ['/1 got 1 deliveries instead of 2.', '/1 got 1 deliveries more than once.'],
  ],
  [
    'arrived at an unknown path',
    [arrival('/1', 'a'), arrival('/1', 'b'), arrival('/2', 'c')],
    ['/2 got unexpected deliveries.'],
  ],
])('names the fault where a delivery %s', (_, arrivals, faults) => {
  expect(faultsOf(arrivals, ['/1'], 2)).toEqual(faults);
});

it('the latency is the time from the request for the event to the arrival', () => {
  expect(latenciesOf([arrival('/1', 'a', 1_250)], new Map([['an event', 1_200]]))).toEqual([50]);
});
