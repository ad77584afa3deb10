import { describe, expect, it } from 'vitest';
import { answerOf, at, bodyOf, codesOf, type Json, parameterOf } from './published.ts';

const delegate = '/api/agents/{name}/delegate';

describe('the delegation in the document', () => {
  it('is delegateTask, which answers 200 and needs agents:execute', () => {
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
  ])('says of one refused with %s that it may be %s', (status, codes) => {
    expect(codesOf(delegate, 'post', status).sort().join(', ')).toBe(codes);
  });

  it('requires toAgent and instruction, and knows two fields more', () => {
    const { properties, ...body } = bodyOf(delegate, 'post');
    expect(body).toMatchObject({ required: ['toAgent', 'instruction'], additionalProperties: false });
    expect(Object.keys(properties as Json)).toEqual(['toAgent', 'taskId', 'instruction', 'context']);
    expect(properties?.instruction).toMatchObject({ type: 'string', minLength: 1, maxLength: 100_000 });
    expect(parameterOf(delegate, 'post', 'Idempotency-Key')).toMatchObject({ in: 'header' });
  });

  it('answers the four specified fields, all of them required, and says where one can stand', () => {
    const { data } = answerOf(delegate, 'post', '200');
    const fields = ['delegationId', 'fromAgent', 'toAgent', 'status'];
    expect([Object.keys(data?.properties as Json), data?.required]).toEqual([fields, fields]);
    expect(data?.properties?.status).toMatchObject({ enum: ['accepted', 'running', 'completed', 'failed'] });
  });
});
