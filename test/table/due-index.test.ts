import { expect, it } from 'vitest';
import { dueLane, dueLanes } from '../../lib/table/delivery-items.ts';

const everyLastLetter = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'].map((letter) => letter.padStart(26, '0'));

it('what waits is in a lane that the sweeper reads, whatever letter its ULID ends with', () => {
  const lanes = everyLastLetter.map(dueLane);
  expect([...new Set(lanes)].sort()).toEqual([...dueLanes]);
});
