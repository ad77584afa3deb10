import { expect, it } from 'vitest';
import { sendOpenLoop } from './open-loop.ts';

it('sends on time though no response comes before the last is sent', async () => {
  const waiting: (() => void)[] = [];
  const send = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 5) for (const one of waiting) one();
    });
  const startedAt = performance.now();
  await sendOpenLoop(500, 5, send);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(7);
});

it('throws the error of a send once all are sent', async () => {
  let sent = 0;
  const send = async () => {
    sent += 1;
    if (sent === 1) throw new Error('refused');
  };
  await expect(sendOpenLoop(1_000, 3, send)).rejects.toThrow('refused');
  expect(sent).toBe(3);
});
