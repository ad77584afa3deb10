import { expect, it } from 'vitest';
import { type Column, type Measured, measureInTurns, tableOfFigures } from './turns.ts';

const rate = { name: 'deliveries/s', decimals: 0 };
const cpu = { name: 'CPU ms', decimals: 2 };

it('writes the median of each figure with the least and the greatest, and nothing for a figure that a column lacks', () => {
  const columns = [
    { name: 'this', seen: [{ rate: 900 }, { rate: 1_100 }, { rate: 1_000 }, { cpu: 1 }, { cpu: 1.2 }] as Measured[] },
    { name: 'Outpost: not installed', seen: [] },
  ];
  expect(tableOfFigures({ figures: { rate, cpu } }, columns)).toEqual({
    head: ['Figure', 'this', 'Outpost: not installed'],
    rows: [
      ['deliveries/s', '1,000 (900–1,100)', ''],
      ['CPU ms', '1.00 (1.00–1.20)', ''],
    ],
  });
});

it('has a column of goals if any figure has one', () => {
  const figures = { rate: { ...rate, atLeast: 1_100 }, cpu };
  expect(tableOfFigures({ figures }, [{ name: 'this', seen: [{ rate: 1_200, cpu: 1 }] }])).toEqual({
    head: ['Figure', 'goal', 'this'],
    rows: [
      ['deliveries/s', '≥ 1,100', '1,200'],
      ['CPU ms', '', '1.00'],
    ],
  });
});

it('measures the columns in turns, and lets each go first', async () => {
  const order: string[] = [];
  const columns: Column<string>[] = ['a', 'b'].map((name) => ({ name, subject: name, seen: [] }));
  const measure = async (subject: string) => {
    order.push(subject);
    return { rate: order.length };
  };
  const bench = { quick: true, say: () => {}, atEnd: () => {} };
  await measureInTurns(bench, { figures: { rate }, measurements: [measure] }, columns, 2);
  expect(order).toEqual(['a', 'b', 'b', 'a']);
  expect(columns.map(({ seen }) => seen)).toEqual([
    [{ rate: 1 }, { rate: 4 }],
    [{ rate: 2 }, { rate: 3 }],
  ]);
});
