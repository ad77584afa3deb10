import { expect, it } from 'vitest';
import { waitsOf } from '../../../../lib/console/screens/runs/step-waits.ts';

const at = (ms: number) => new Date(ms).toISOString();

it('a run waits before its first step, and between steps', () => {
  const steps = [
    { startedAt: at(1_500), durationMs: 300 },
    { startedAt: at(1_800), durationMs: 100 },
    { startedAt: at(2_400), durationMs: 50 },
  ];
  expect(waitsOf(steps, 1_000)).toEqual([500, 0, 500]);
});

it('a run does not wait while another step is under way, nor before its own start', () => {
  const steps = [
    { startedAt: at(900), durationMs: 1_000 },
    { startedAt: at(1_100), durationMs: 100 },
    { startedAt: at(2_000), durationMs: 10 },
  ];
  expect(waitsOf(steps, 1_000)).toEqual([0, 0, 100]);
});

it('nothing is known of a wait before a step without a start', () => {
  expect(waitsOf([{ durationMs: 5 }, { startedAt: at(1_200) }], 1_000)).toEqual([0, 200]);
});
