import { expect, it } from 'vitest';
import { claimText } from '../../../../lib/console/components/format/claim-text.ts';

it('an event of a claim names the worker, and why the claim has ended', () => {
  const claim = { id: 'cl_01K9Z3T6V0QW8E5R7T9Y1AB2CD', worker: 'laptop 1' };
  expect(claimText({ claim })).toBe('laptop 1');
  expect(claimText({ claim, reason: 'taken_back' })).toBe('laptop 1: taken back');
});
