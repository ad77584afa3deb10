import { expect, it } from 'vitest';
import { lateMs, sendOpenLoop } from './open-loop.ts';

const burn = (milliseconds: number) => {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
};

it('sends on time though no answer comes before the last is sent', async () => {
  const waiting: (() => void)[] = [];
  const send = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 5) for (const one of waiting) one();
    });
  const startedAt = performance.now();
  expect(await sendOpenLoop(500, 5, send)).toMatchObject({ count: 5 });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(7);
});

it('counts what it could not send in time', async () => {
  let sent = 0;
  const send = async () => {
    sent += 1;
    if (sent === 2) burn(lateMs + 20);
  };
  const { late, latestMs } = await sendOpenLoop(1_000, 3, send);
  expect(late).toBeGreaterThanOrEqual(1);
  expect(latestMs).toBeGreaterThan(lateMs);
});

it('fails with what could not be sent, once all is sent', async () => {
  let sent = 0;
  const send = async () => {
    sent += 1;
    if (sent === 1) throw new Error('refused');
  };
  await expect(sendOpenLoop(1_000, 3, send)).rejects.toThrow('refused');
  expect(sent).toBe(3);
});
