import { expect, it } from 'vitest';
import { openTwoOrganizations } from './fairness.ts';

// A worker waits 5 s for a throttled model, and gives its place to the next message then.
it.each([
  { places: 50, withinMs: 5_000 },
  { places: 10, withinMs: 25_000 },
])(
  'An execution behind 50 of another organization, whose model throttles, is completed within $withinMs ms by $places workers',
  async ({ places, withinMs }) => {
    const { message, messages, pass, read } = await openTwoOrganizations(places, 50);
    await pass(withinMs);
    const { status, durationMs } = (await read(message)) ?? {};
    expect(status).toBe('completed');
    expect(durationMs).toBeLessThanOrEqual(withinMs);
    const others = await Promise.all(messages.map(read));
    expect(others.every((one) => one?.status === 'running')).toBe(true);
  },
);
