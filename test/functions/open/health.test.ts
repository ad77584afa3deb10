import { expect, it } from 'vitest';
import { handler } from '../../../functions/open/health.ts';
import { call, eventOf } from '../../service.ts';
import { errorOf, openBoards } from '../kanban-tasks/board.ts';

await openBoards();

it('answers ok to anyone, without a token', async () => {
  const answer = await call(handler, { path: '/health' });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ success: true, data: { status: 'ok' } });
  expect(answer.headers['Content-Type']).toBe('application/json');
  expect(answer.headers).not.toHaveProperty('ETag');
});

it('pays no heed to a token, however broken', async () => {
  const answer = await call(handler, { path: '/health', headers: { Authorization: 'Bearer broken' } });
  expect(answer.status).toBe(200);
});

it('has the requestId of its request', async () => {
  const event = eventOf({ path: '/health' });
  const answer = await handler(event, { getRemainingTimeInMillis: () => 29_000 } as never);
  expect(answer.headers?.['X-Request-Id']).toBe(event.requestContext.requestId);
});

it('is refused with 400 validation_failed for a query, which it does not take', async () => {
  const answer = await call(handler, { path: '/health', query: 'verbose=1' });
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'validation_failed']);
});

it('is refused with 413 payload_too_large for a body of 300 KB', async () => {
  const answer = await call(handler, { path: '/health', body: 'x'.repeat(300 * 1024) });
  expect([answer.status, errorOf(answer).code]).toEqual([413, 'payload_too_large']);
});
