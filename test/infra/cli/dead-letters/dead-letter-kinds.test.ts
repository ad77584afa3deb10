import { describe, expect, it } from 'vitest';
import { kindOf } from '../../../../infra/cli/dead-letters/dead-letter-kinds.ts';

const ulid = '01K00000000000000000000000';
const ids = { organization: 'acme', webhookId: `wh_${ulid}`, deliveryId: `dlv_${ulid}` };
const delivery = { ...ids, attempt: 2, dueAt: '2026-03-01T12:00:00.000Z' };
const execution = { organization: 'acme', executionId: `ex_${ulid}` };
const change = { eventID: 'event-1', dynamodb: { NewImage: { kind: { S: 'task' } } } };

describe('kindOf', () => {
  it.each([
    ['deliveries', delivery],
    ['deliveries', { ...delivery, slow: true, requestId: 'a-request' }],
    ['executions', execution],
    ['executions', { ...execution, requestId: 'a-request' }],
    ['changes', change],
    ['changes', { eventID: 'without other fields' }],
  ])('returns %s for the body %j', (kind, body) => {
    expect(kindOf(JSON.stringify(body))).toBe(kind);
  });

  it.each([
    ...['', 'not JSON', 'null', '[]', '"deliveries"', '{}', '{"eventID":1}'],
    JSON.stringify({ ...delivery, attempt: 'second' }),
    JSON.stringify({ ...execution, executionId: 'ex_short' }),
    JSON.stringify({ ...execution, organization: undefined }),
  ])('returns unreadable for the body %j', (body) => {
    expect(kindOf(body)).toBe('unreadable');
  });
});
