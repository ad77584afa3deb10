import { describe, expect, it } from 'vitest';
import { getExecutionMetrics, getMetrics } from '../../../lib/contract/agents/agent-metrics.ts';
import { selfImproveAgent } from '../../../lib/contract/agents/improvements.ts';
import { validate } from '../../../lib/contract/requests/validate.ts';
import { testFields, texts } from '../fields.ts';

describe('a pass', () => {
  it('without fields reviews 20 executions, without a focus', () => {
    expect(validate(selfImproveAgent.body, {})).toEqual({ output: { lookbackExecutions: 20 }, errors: [] });
  });

  testFields(
    selfImproveAgent.body,
    {},
    {
      lookbackExecutions: { valid: [1, 100], invalid: [0, -1, 101, 1.5], ofOtherType: ['20', null] },
      focusArea: texts(1_000),
    },
  );
});

it.each([
  { name: 'an agent', row: getMetrics },
  { name: 'the organization', row: getExecutionMetrics },
])('metrics of $name are of 7, 30 or 90 days, by default of 30', ({ row }) => {
  const read = (query: object) => validate(row.query, query);
  expect(read({}).output).toEqual({ period: '30d' });
  for (const period of ['7d', '30d', '90d']) expect(read({ period })).toEqual({ output: { period }, errors: [] });
  for (const period of ['1d', '30', '30D', '365d', '7d ', 'constructor', ''])
    expect(read({ period }).errors).toEqual([
      { path: 'period', code: 'invalid_value', message: 'period must be one of 7d, 30d, 90d' },
    ]);
});

it('metrics of an agent have a daily series or none', () => {
  expect(validate(getMetrics.query, { series: 'daily' }).output).toEqual({ period: '30d', series: 'daily' });
  for (const series of ['hourly', 'Daily', 'true', ''])
    expect(validate(getMetrics.query, { series }).errors).toEqual([
      { path: 'series', code: 'invalid_value', message: 'series must be one of daily' },
    ]);
});
