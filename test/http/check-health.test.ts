import { expect, it } from 'vitest';
import type { Context } from '../../lib/context/context.ts';
import { createHealthCheck } from '../../lib/http/check-health.ts';
import { openService } from '../service.ts';

const { app } = await openService();

it('a result counts for five seconds, so that many callers cause few reads', async () => {
  let reads = 0;
  let now = 0;
  let reachable = true;
  const getContext = (): Context => {
    reads += 1;
    if (!reachable) throw new Error('The table is gone.');
    return app;
  };
  const check = createHealthCheck(getContext, () => now);
  await Promise.all([check(), check()]);
  reachable = false;
  now = 4_999;
  await check();
  expect(reads).toBe(1);
  now = 5_000;
  await expect(check()).rejects.toMatchObject({ code: 'unavailable', cause: new Error('The table is gone.') });
  reachable = true;
  await expect(check()).rejects.toMatchObject({ code: 'unavailable' });
  now = 10_000;
  await check();
  expect(reads).toBe(3);
});
