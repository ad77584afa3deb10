import { describe, expect, it } from 'vitest';
import { evidenceLine, evidenceOf } from '../../lib/improvements/evidence.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { completed, runningExecution } from '../table/executions/execution-table.ts';

/** Returns an execution that completed in a second, with 100 tokens and without troubles. */
const execution = (fields: Partial<ExecutionHead> = {}): ExecutionHead => ({
  ...{ ...runningExecution(), ...completed({ durationMs: 1_000, tokensUsed: 100, qaReview: 'passed' }), ...fields },
});
const times = (count: number, fields?: Partial<ExecutionHead>) =>
  Array.from({ length: count }, () => execution(fields));
const troubles = (...executions: ExecutionHead[]) => evidenceOf(executions).map((one) => one.troubles);
const lost = { status: 'failed', error: 'lost', durationMs: 90_000, tokensUsed: 0 } as const;
const cancelled = { ...lost, error: 'cancelled' } as const;
const stopped = { ...lost, error: 'agent_not_active' } as const;
const running = { status: 'running', durationMs: 60_000 } as const;
const [ownTest, review] = ['did not pass its own test', 'did not pass the review'];

it('the evidence is all ended executions, in their order', () => {
  const ids = ['ex_3', 'ex_2', 'ex_1'];
  const given = [execution(running), ...ids.map((id) => execution({ id }))];
  expect(evidenceOf(given).map((one) => [one.execution.id, one.troubles])).toEqual(ids.map((id) => [id, []]));
});

it.each<[string, Partial<ExecutionHead>, string[]]>([
  ['completed', {}, []],
  ['has skipped gates', { selfTest: 'skipped', qaReview: 'skipped' }, []],
  ['failed', { status: 'failed', error: 'The model refused to do this.' }, ['failed: The model refused to do this.']],
  ['reached its deadline', { status: 'failed', error: 'deadline' }, ['failed: deadline']],
  ['failed its self-test', { selfTest: 'failed' }, [ownTest]],
  ['failed its review', { qaReview: 'failed' }, [review]],
  ['failed both gates', { selfTest: 'failed', qaReview: 'failed' }, [ownTest, review]],
  ['failed because its workers were lost', lost, []],
  ['was cancelled', cancelled, []],
  ['failed because its agent was deactivated', stopped, []],
])('an execution that %s has exactly these troubles, alone and among others', (_, fields, named) => {
  expect(troubles(execution(fields))).toEqual([named]);
  expect(troubles(...times(2), execution(fields))).toEqual([[], [], named]);
});

describe('an execution', () => {
  it.each([
    ['took long', 'durationMs', 2_000],
    ['cost much', 'tokensUsed', 200],
  ] as const)('%s if its %s is more than twice the median', (trouble, field, twice) => {
    const others = times(4);
    expect(troubles(...others, execution({ [field]: twice })).at(-1)).toEqual([]);
    expect(troubles(...others, execution({ [field]: twice + 1 }))).toEqual([[], [], [], [], [trouble]]);
  });

  it('neither took long nor cost much if there are fewer than three', () => {
    const [long, short] = [execution({ durationMs: 60_000, tokensUsed: 9_000 }), execution()];
    expect(troubles(long, short)).toEqual([[], []]);
    expect(troubles(long, short, short)).toEqual([['took long', 'cost much'], [], []]);
  });

  it.each([lost, cancelled, stopped, running])('is not compared with %j', (others) => {
    expect(troubles(execution({ durationMs: 60_000 }), ...times(2), ...times(9, others)).flat()).toEqual(['took long']);
  });

  it('without a duration and tokens has no troubles', () => {
    const { durationMs, tokensUsed, ...unmeasured } = execution();
    expect(troubles(unmeasured, unmeasured)).toEqual([[], []]);
  });
});

it('a line has the status of an execution, its cost, the results of its gates and its troubles', () => {
  const one = execution({ durationMs: 12_345, qaReview: 'failed' });
  const line = '- completed, 12.3 s, 100 tokens, own test passed, review failed';
  expect(evidenceLine({ execution: one, troubles: [] })).toBe(line);
  expect(evidenceLine({ execution: one, troubles: ['a', 'b'] })).toBe(`${line}; a; b`);
});
