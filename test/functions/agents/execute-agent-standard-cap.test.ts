import { expect, it } from 'vitest';
import { errorOf } from '../kanban-tasks/board.ts';
import { listed, openCrews } from './crew.ts';
import { atOnce } from './registry.ts';

const { newCrew } = await openCrews();

it('of 56 starts at once 50 run, and six are refused with 429 rate_limited and Retry-After', async () => {
  const crew = await newCrew();
  const answers = await atOnce(56, () => crew.execute());
  const refused = answers.filter(({ status }) => status !== 200);
  expect([answers.length - refused.length, refused.length]).toEqual([50, 6]);
  for (const answer of refused) {
    expect([answer.status, errorOf(answer).code]).toEqual([429, 'rate_limited']);
    expect(answer.headers['Retry-After']).toBe('10');
  }
  expect(listed(await crew.list('status=running&limit=1'))[1]).toBe(50);
});
