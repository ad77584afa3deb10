import { expect, it } from 'vitest';
import { readExecutionHead } from '../../lib/table/executions/executions.ts';
import { createTwoOrganizations } from './fairness.ts';

const minute = 60_000;

it('20 executions whose model throttles for ever end ten minutes after their first leases, and none that was not leased', async () => {
  const { fixture, message, messages, pass, read } = await createTwoOrganizations(4, 20);
  await pass(11 * minute);
  expect(await read(message)).toMatchObject({ status: 'completed' });
  const others = await Promise.all(messages.map(read));
  expect(others.map((one) => [one?.status, one?.error])).toEqual(messages.map(() => ['failed', 'deadline']));
  for (const { organization, executionId: id } of messages) {
    const head = await readExecutionHead(fixture.context, { organization, id });
    const worked = Date.parse(head?.completedAt as string) - Date.parse(head?.firstLeasedAt as string);
    expect(worked).toBeGreaterThanOrEqual(10 * minute);
  }
}, 300_000);
