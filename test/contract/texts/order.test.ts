import { expect, it } from 'vitest';
import { ascending, descending } from '../../../lib/contract/texts/order.ts';

it('orders texts by their code units, and leaves equal ones in their order', () => {
  const texts = [{ of: 'é' }, { of: 'b', nth: 1 }, { of: 'B' }, { of: 'b', nth: 2 }, { of: '' }];
  expect(texts.toSorted((a, b) => ascending(a.of, b.of))).toEqual([
    { of: '' },
    { of: 'B' },
    { of: 'b', nth: 1 },
    { of: 'b', nth: 2 },
    { of: 'é' },
  ]);
  expect(texts.toSorted((a, b) => descending(a.of, b.of)).map(({ of, nth }) => `${of}${nth ?? ''}`)).toEqual([
    'é',
    'b1',
    'b2',
    'B',
    '',
  ]);
});
