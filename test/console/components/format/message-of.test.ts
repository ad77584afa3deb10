import { expect, it } from 'vitest';
import { CrewboardError } from '../../../../lib/client/client.ts';
import { messageOf } from '../../../../lib/console/components/format/message-of.ts';

it('the text of an error names the worker that has claimed the task, and until when', () => {
  const message = 'A worker has claimed the task; name its claimId.';
  const detail = { path: 'claim', code: 'blocking', message: 'By the worker in this detail.' } as const;
  const of = { worker: 'laptop 1', expiresAt: '2026-11-14T09:30:00.000Z' };
  const code = 'task_claimed';
  expect(messageOf(new CrewboardError(409, { code, message, details: [{ ...detail, ...of }] }))).toMatch(
    /^“laptop 1” has claimed the task until .*2026.*:30.*\. Wait for its release, or take the task back\.$/,
  );
  expect(messageOf(new CrewboardError(409, { code, message }))).toBe(message);
});

it('the text of a request without a response says whether something may have changed', () => {
  const noResponse = (method: string) => new CrewboardError(0, { code: 'no_response', message: 'Failed', method });
  expect(messageOf(noResponse('GET'))).toBe('The service cannot be reached. Try again.');
  expect(messageOf(noResponse('PATCH'))).toContain('It may have done this nevertheless');
});

it('the text of a script that is missing says to try again, or to reload the page after an upgrade', () => {
  expect(messageOf(new TypeError('error loading dynamically imported module'))).toContain('reload the page.');
  expect(messageOf(new Error('Something else.'))).toBe('Something else.');
});
