import { it } from 'vitest';
import { testSeed } from '../../../seeded.ts';
import { openService } from '../../../service.ts';
import { expectEveryEventSeen } from './followers.ts';

const service = await openService();

it.each([1, 2, 3, 4])('followers get every event at least once: twenty-five more simulations, %d', (nth) =>
  expectEveryEventSeen(service, 25, testSeed + nth),
);
