import { describe, expect, it } from 'vitest';
import type { Organization } from '../../lib/contract/organization.ts';
import { evidenceOf, lineOf } from '../../lib/improvements/evidence.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';

/** An execution that went well in a second, for 100 tokens. */
const execution = (fields: Partial<ExecutionHead> = {}): ExecutionHead => ({
  organization: 'org' as Organization,
  id: 'ex_01K00000000000000000000000',
  agentId: 'ag_01K00000000000000000000000',
  agentName: 'writer',
  status: 'completed',
  startedAt: '2026-01-01T00:00:00.000Z',
  completedAt: '2026-01-01T00:00:01.000Z',
  durationMs: 1_000,
  tokensUsed: 100,
  model: 'm',
  selfTest: 'passed',
  qaReview: 'passed',
  claims: 1,
  ...fields,
});
const times = (count: number, fields?: Partial<ExecutionHead>) =>
  Array.from({ length: count }, () => execution(fields));
const troubles = (...executions: ExecutionHead[]) => evidenceOf(executions).map((one) => one.troubles);
const lost = { status: 'failed', error: 'lost', durationMs: 90_000, tokensUsed: 0 } as const;

describe('evidence', () => {
  it('is all that has finished, in the order in which it is given', () => {
    const ids = ['ex_3', 'ex_2', 'ex_1'];
    const given = [execution({ status: 'running', durationMs: 60_000 }), ...ids.map((id) => execution({ id }))];
    expect(evidenceOf(given).map((one) => [one.execution.id, one.troubles])).toEqual(ids.map((id) => [id, []]));
  });

  it('of nothing, or of what runs, is nothing', () => {
    expect(evidenceOf([])).toEqual([]);
    expect(evidenceOf(times(3, { status: 'running' }))).toEqual([]);
  });

  it.each<[string, Partial<ExecutionHead>, string[]]>([
    ['that went well', {}, []],
    ['whose gates were skipped', { selfTest: 'skipped', qaReview: 'skipped' }, []],
    [
      'that failed',
      { status: 'failed', error: 'The model refused to do this.' },
      ['failed: The model refused to do this.'],
    ],
    ['that ran out of time', { status: 'failed', error: 'deadline' }, ['failed: deadline']],
    ['that did not pass its own test', { selfTest: 'failed' }, ['did not pass its own test']],
    ['that did not pass the review', { qaReview: 'failed' }, ['did not pass the review']],
    [
      'that passed neither',
      { selfTest: 'failed', qaReview: 'failed' },
      ['did not pass its own test', 'did not pass the review'],
    ],
    ['whose workers died', lost, []],
  ])('of one %s names just that, alone and among others', (_, fields, named) => {
    expect(troubles(execution(fields))).toEqual([named]);
    expect(troubles(...times(2), execution(fields))).toEqual([[], [], named]);
  });
});

describe('what took long or cost much', () => {
  it.each([
    ['took long', 'durationMs', 2_000],
    ['cost much', 'tokensUsed', 200],
  ] as const)('%s where it is more than twice the median', (trouble, field, twice) => {
    const others = times(4);
    expect(troubles(...others, execution({ [field]: twice })).at(-1)).toEqual([]);
    expect(troubles(...others, execution({ [field]: twice + 1 }))).toEqual([[], [], [], [], [trouble]]);
  });

  it('is not reported of one or two executions: they have no median', () => {
    const [long, short] = [execution({ durationMs: 60_000, tokensUsed: 9_000 }), execution()];
    expect(troubles(long)).toEqual([[]]);
    expect(troubles(long, short)).toEqual([[], []]);
    expect(troubles(long, short, short)).toEqual([['took long', 'cost much'], [], []]);
  });

  it('is not measured by lost or running executions', () => {
    const long = execution({ durationMs: 60_000 });
    expect(troubles(long, ...times(2), ...times(9, lost)).flat()).toEqual(['took long']);
    expect(troubles(long, ...times(2), ...times(9, { status: 'running', durationMs: 60_000 })).flat()).toEqual([
      'took long',
    ]);
  });

  it('is nothing where nothing was measured', () => {
    const { durationMs: _, tokensUsed: __, ...unmeasured } = execution();
    expect(troubles(unmeasured, unmeasured)).toEqual([[], []]);
  });
});

it('a line has the status of an execution, its cost, the results of its gates and its troubles', () => {
  const one = execution({ durationMs: 12_345, qaReview: 'failed' });
  expect(lineOf({ execution: one, troubles: [] })).toBe(
    '- completed, 12.3 s, 100 tokens, own test passed, review failed',
  );
  expect(lineOf({ execution: one, troubles: ['a', 'b'] })).toMatch(/, review failed; a; b$/);
});
