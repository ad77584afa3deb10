import { afterEach, describe, expect, it, vi } from 'vitest';
import { scheduled } from '../../lib/queue/scheduled.ts';
import { clockAt, openService } from '../service.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
const { app } = await openService(clockAt(now));

afterEach(() => vi.restoreAllMocks());

describe('a function of a schedule', () => {
  const run = async (detail: object) => {
    const moments: number[] = [];
    const handler = scheduled(
      async (until) => {
        moments.push(until);
        return { woken: 3 };
      },
      () => app,
    );
    await handler({ detail });
    return moments;
  };

  it('acts for now', async () => {
    expect(await run({})).toEqual([now]);
  });

  it('acts for the moment that it is given', async () => {
    expect(await run({ until: '9999-12-31T23:59:59.999Z' })).toEqual([Date.parse('9999-12-31T23:59:59.999Z')]);
  });

  it('says in the log what it has done', async () => {
    const info = vi.spyOn(app.log, 'info').mockImplementation(() => {});
    await run({});
    expect(info.mock.calls).toEqual([['scheduled', { woken: 3 }]]);
  });

  it('throws on what went wrong, so that it counts as an error', async () => {
    const handler = scheduled(
      async () => Promise.reject(new Error('It does not work.')),
      () => app,
    );
    await expect(handler({ detail: {} })).rejects.toThrow('It does not work.');
  });
});
