import { expect, it } from 'vitest';
import { getMetrics } from '../../lib/contract/agent-metrics.ts';
import { selfImproveAgent } from '../../lib/contract/improvements.ts';
import { validate } from '../../lib/http/validate.ts';

const errors = (body: object) =>
  validate(selfImproveAgent.body, body).errors.map(({ path, code }) => `${path} ${code}`);

it('a pass without fields reviews 20 executions, without a focus', () => {
  expect(validate(selfImproveAgent.body, {})).toEqual({ output: { lookbackExecutions: 20 }, errors: [] });
});

it.each([
  { lookbackExecutions: 1 },
  { lookbackExecutions: 100 },
  { focusArea: 'x' },
  { focusArea: '😀'.repeat(1_000) },
])('a pass accepts %j', (body) => {
  expect(validate(selfImproveAgent.body, body)).toMatchObject({ output: body, errors: [] });
});

it.each([
  [{ lookbackExecutions: 0 }, 'lookbackExecutions invalid_value'],
  [{ lookbackExecutions: -1 }, 'lookbackExecutions invalid_value'],
  [{ lookbackExecutions: 101 }, 'lookbackExecutions invalid_value'],
  [{ lookbackExecutions: 1.5 }, 'lookbackExecutions invalid_value'],
  [{ lookbackExecutions: '20' }, 'lookbackExecutions invalid_type'],
  [{ lookbackExecutions: null }, 'lookbackExecutions invalid_type'],
  [{ focusArea: '' }, 'focusArea invalid_value'],
  [{ focusArea: ' \n\u3000' }, 'focusArea invalid_value'],
  [{ focusArea: '😀'.repeat(1_001) }, 'focusArea invalid_value'],
  [{ focusArea: 'a\ud800' }, 'focusArea invalid_value'],
  [{ focusArea: ['x'] }, 'focusArea invalid_type'],
])('a pass rejects %j', (body, error) => expect(errors(body)).toEqual([error]));

it('metrics are of 7, 30 or 90 days, by default of 30', () => {
  const read = (query: object) => validate(getMetrics.query, query);
  expect(read({}).output).toEqual({ period: '30d' });
  for (const period of ['7d', '30d', '90d']) expect(read({ period })).toEqual({ output: { period }, errors: [] });
  for (const period of ['1d', '30', '30D', '365d', '7d ', 'constructor', ''])
    expect(read({ period }).errors).toEqual([
      { path: 'period', code: 'invalid_value', message: 'period must be one of 7d, 30d, 90d' },
    ]);
});
