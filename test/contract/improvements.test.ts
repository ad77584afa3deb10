import { describe, expect, it } from 'vitest';
import { getMetrics } from '../../lib/contract/agent-metrics.ts';
import { selfImproveAgent } from '../../lib/contract/improvements.ts';
import { validate } from '../../lib/requests/validate.ts';
import { testFields, texts } from './fields.ts';

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

it('metrics are of 7, 30 or 90 days, by default of 30', () => {
  const read = (query: object) => validate(getMetrics.query, query);
  expect(read({}).output).toEqual({ period: '30d' });
  for (const period of ['7d', '30d', '90d']) expect(read({ period })).toEqual({ output: { period }, errors: [] });
  for (const period of ['1d', '30', '30D', '365d', '7d ', 'constructor', ''])
    expect(read({ period }).errors).toEqual([
      { path: 'period', code: 'invalid_value', message: 'period must be one of 7d, 30d, 90d' },
    ]);
});
