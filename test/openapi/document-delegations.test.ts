import { describe, expect, it } from 'vitest';
import { at, bodyOf, codesOf, type Json, parameterOf, responseOf } from './published.ts';

const delegate = '/api/agents/{name}/delegate';

describe('the delegation in the document', () => {
  it('is delegateTask, with status 200 and scope agents:execute', () => {
    const { operationId, security, tags, responses } = at('paths', delegate, 'post');
    expect([operationId, security, tags]).toEqual(['delegateTask', [{ bearer: ['agents:execute'] }], ['agents']]);
    expect(Object.keys(responses as Json)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ]);
  });

  it.each([
    ['409', 'agent_not_active, delegation_cycle, delegation_too_deep, task_blocked'],
    ['422', 'idempotency_key_reused, self_delegation, unknown_reference'],
  ])('has for the status %s the codes %s', (status, codes) => {
    expect(codesOf(delegate, 'post', status).sort().join(', ')).toBe(codes);
  });

  it('requires toAgent and instruction, and has two other fields', () => {
    const { properties, ...body } = bodyOf(delegate, 'post');
    expect(body).toMatchObject({ required: ['toAgent', 'instruction'], additionalProperties: false });
    expect(Object.keys(properties as Json)).toEqual(['toAgent', 'taskId', 'instruction', 'context']);
    expect(properties?.instruction).toMatchObject({ type: 'string', minLength: 1, maxLength: 100_000 });
    expect(parameterOf(delegate, 'post', 'Idempotency-Key')).toMatchObject({ in: 'header' });
  });

  it('returns the four specified fields, all of them required, and the four statuses', () => {
    const { data } = responseOf(delegate, 'post', '200');
    const fields = ['delegationId', 'fromAgent', 'toAgent', 'status'];
    expect([Object.keys(data?.properties as Json), data?.required]).toEqual([fields, fields]);
    expect(data?.properties?.status).toMatchObject({ enum: ['accepted', 'running', 'completed', 'failed'] });
  });
});
