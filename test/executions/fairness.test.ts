import { expect, it } from 'vitest';
import { createTwoOrganizations } from './fairness.ts';

// A worker waits 5 s for a throttled model, and gives its place to the next message then.
it.each([
  { busy: 50, places: 50, withinMs: 5_000 },
  { busy: 15, places: 5, withinMs: 15_000 },
])(
  'An execution behind $busy of another organization, whose model throttles, is completed within $withinMs ms by $places workers',
  async ({ busy, places, withinMs }) => {
    const { message, messages, pass, read } = await createTwoOrganizations(places, busy);
    await pass(withinMs);
    const { status, durationMs } = (await read(message)) ?? {};
    expect(status).toBe('completed');
    expect(durationMs).toBeLessThanOrEqual(withinMs);
    const others = await Promise.all(messages.map(read));
    expect(others.every((one) => one?.status === 'running')).toBe(true);
  },
  // Real requests to the engine, hundreds of them, on a machine that may be busy.
  120_000,
);
