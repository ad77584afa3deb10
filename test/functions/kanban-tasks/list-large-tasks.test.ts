import { expect, it } from 'vitest';
import { payloadBytes, payloadLimit } from '../../../lib/http/middleware/payload.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { createTaskCallers } from './task-caller.ts';

const { newTaskCaller } = await createTaskCallers();

it('100 tasks of 10,000 control characters each come in pages that Lambda passes on, each task once', async () => {
  const caller = await newTaskCaller();
  const ids: string[] = [];
  const description = '\u0001'.repeat(10_000);
  for (let made = 0; made < 100; made++) ids.push(await caller.put({ description }));
  const listed: string[] = [];
  const limits: number[] = [];
  for (let offset = 0; offset < ids.length; ) {
    const answer = await caller.listTasks({ query: `limit=100&offset=${offset}` });
    expect(payloadBytes({ headers: answer.headers, body: JSON.stringify(answer.body) })).toBeLessThan(payloadLimit);
    const { limit, total } = paginationOf(answer);
    expect(total).toBe(100);
    limits.push(limit);
    listed.push(...dataOf<{ id: string }[]>(answer).map(({ id }) => id));
    offset += limit;
  }
  // Newest first; the ids of the same millisecond are in a random order.
  expect(listed).toEqual(ids.sort().reverse());
  // The second page has room for all that are left, and says the limit that was asked for.
  expect(limits).toEqual([expect.toSatisfy((first) => first < 100), 100]);
});
