import { describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import {
  delegationFrom,
  delegationItem,
  type ExecutionHead,
  executionFrom,
  executionItem,
  inputFrom,
  inputItem,
  listItemOf,
  outputItems,
  type RunningExecution,
  wholeExecution,
} from '../../../lib/table/executions/execution-items.ts';
import { fc } from '../../seeded.ts';
import { completed, failed } from './execution-table.ts';

const ulid = '01KE0000000000000000000004';
const running: RunningExecution = {
  organization: 'org' as Organization,
  id: `ex_${ulid}`,
  agentId: 'ag_01KE0000000000000000000000',
  agentName: 'writer',
  taskId: 'tk_01KE0000000000000000000001',
  status: 'running',
  startedAt: '2026-01-02T18:37:22.304Z',
  model: 'some.model',
  selfTest: 'pending',
  qaReview: 'pending',
  claims: 0,
};
const dueAt = '2026-01-02T18:38:22.304Z';

/** Returns the items of an execution that ended with an output. */
const itemsOf = (output: string, ending = completed()) => {
  const { due: _, dueAt: __, ...head } = executionItem(running, dueAt);
  return [{ ...head, ...ending }, inputItem(running, { input: 'Do it.' }), ...outputItems(running, output)];
};

const partBytes = 300_000;
const partsOf = (output: string) => outputItems(running, output).map(({ text }) => text as string);

describe('an output', () => {
  it.each(['x', 'é', '€', '🙂'])('is split between characters into parts of the greatest size: %s', (letter) => {
    const width = Buffer.byteLength(letter);
    for (let shift = 0; shift < width; shift++) {
      const output = 'x'.repeat(shift) + letter.repeat(Math.ceil((2.5 * partBytes) / width));
      const parts = partsOf(output);
      expect(parts.join('') === output).toBe(true);
      expect(parts.every((part) => part.isWellFormed())).toBe(true);
      const sizes = parts.map((part) => Buffer.byteLength(part));
      expect(sizes).toHaveLength(3);
      for (const size of sizes.slice(0, 2)) {
        expect(size).toBeLessThanOrEqual(partBytes);
        expect(size).toBeGreaterThan(partBytes - width);
      }
    }
  });

  it.each([0, 1, partBytes - 1, partBytes, partBytes + 1, 2 * partBytes])('of %i bytes has no empty part', (bytes) => {
    expect(partsOf('x'.repeat(bytes)).map(({ length }) => length)).toEqual(
      [partBytes, partBytes, partBytes]
        .map((_, nth) => Math.min(partBytes, bytes - nth * partBytes))
        .filter((n) => n > 0),
    );
  });

  it('of any characters is the same after its parts are joined, in any order', () => {
    const letters = fc.constantFrom('x', '\u0000', '\u07ff', '\uffff', '\u{10000}', '\u{10ffff}', '👩‍👩‍👧');
    const passage = fc.tuple(letters, fc.nat(400_000)).map(([letter, count]) => letter.repeat(count / letter.length));
    fc.assert(
      fc.property(fc.array(passage, { maxLength: 4 }), (passages) => {
        const output = passages.join('');
        const items = itemsOf(output);
        return wholeExecution(items)?.output === output && wholeExecution(items.toReversed())?.output === output;
      }),
      { seed: 1, numRuns: 20 },
    );
  });

  it('of more than ten parts is joined in the order of their numbers', () => {
    const output = Array.from({ length: 12 }, (_, nth) => String.fromCharCode(97 + nth).repeat(partBytes)).join('');
    const byKey = itemsOf(output).sort((a, b) => ((a.sk as string) < (b.sk as string) ? -1 : 1));
    expect(wholeExecution(byKey)?.output === output).toBe(true);
  });
});

describe('a context', () => {
  it.each([
    '{"zebra":1,"ant":{"y":[],"b":null},"constructor":{"prototype":2},"__proto__":"p","toString":false,"":0}',
    '{}',
    '{"text":"\\u0000 🙂","number":1e-7}',
  ])('keeps all keys and their order: %s', (text) => {
    const item = inputItem(running, { input: 'Do it.', context: JSON.parse(text) });
    const asked = inputFrom(item);
    expect(JSON.stringify(asked.context)).toBe(text);
    expect(asked.input).toBe('Do it.');
  });

  it('is absent if the input has none', () => {
    expect(inputFrom(inputItem(running, { input: 'Do it.' }))).toEqual({ input: 'Do it.' });
  });
});

describe('a head', () => {
  it('is the same after it was stored, with the id and start of its key', () => {
    expect(executionFrom(executionItem(running, dueAt))).toEqual(running);
    const { taskId: _, ...bare } = running;
    expect(executionFrom(executionItem(bare, dueAt))).toEqual(bare);
  });

  it('is listed for the sweeper', () => {
    expect(executionItem(running, dueAt)).toMatchObject({ due: 'execution', dueAt });
  });
});

const specified = ['id', 'agentName', 'taskId', 'status', 'startedAt'];
const end = ['completedAt', 'durationMs'];

it.each<[string, ExecutionHead, string[]]>([
  ['that runs', running, specified],
  ['that a worker has leased', { ...running, claims: 1, claim: 'mine', leaseUntil: dueAt }, specified],
  ['that is completed', { ...running, ...completed() }, [...specified, ...end]],
  ['that failed', { ...running, ...failed() }, [...specified, ...end]],
])('the list item of an execution %s has exactly the specified fields', (_, head, fields) => {
  expect(Object.keys(listItemOf(head))).toEqual(fields);
  const { taskId: __, ...bare } = head;
  expect(Object.keys(listItemOf(bare))).toEqual(fields.filter((field) => field !== 'taskId'));
});

describe('a whole execution', () => {
  const later = ['completedAt', 'durationMs', 'output', 'tokensUsed', 'error'] as const;

  it('has no fields of its end while it runs', () => {
    const whole = wholeExecution([executionItem(running, dueAt), inputItem(running, { input: 'Do it.' })]);
    expect(later.filter((field) => field in (whole ?? {}))).toEqual([]);
    expect(whole).toMatchObject({ input: 'Do it.', qualityGates: { selfTest: 'pending', qaReview: 'pending' } });
  });

  it('has an output, even an empty one, and no error if it completed', () => {
    const { selfTest, qaReview, ...ending } = completed();
    const whole = wholeExecution(itemsOf('', completed()));
    expect(whole).toMatchObject({ ...ending, output: '', qualityGates: { selfTest, qaReview } });
    expect(whole).not.toHaveProperty('error');
  });

  it('has an error and no output if it failed', () => {
    const whole = wholeExecution(itemsOf('half of it', failed()));
    expect(whole).toMatchObject({ status: 'failed', error: 'It went wrong.', tokensUsed: 42 });
    expect(whole).not.toHaveProperty('output');
  });

  it('is `undefined` if its head or its input is missing', () => {
    const [head, input] = itemsOf('');
    expect([wholeExecution([]), wholeExecution([head ?? {}]), wholeExecution([input ?? {}])]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a delegation', () => {
  it.each<[string, ExecutionHead, string]>([
    ['was never leased', running, 'accepted'],
    ['is leased', { ...running, claims: 1, firstLeasedAt: dueAt }, 'running'],
    ['was leased by a version that stored no time of the first lease', { ...running, claims: 1 }, 'running'],
    ['was leased and then returned', { ...running, firstLeasedAt: dueAt }, 'running'],
    ['completed', { ...running, ...completed() }, 'completed'],
    ['failed before its first lease', { ...running, ...failed() }, 'failed'],
  ])('whose execution %s has its status', (_, execution, status) => {
    expect(delegationFrom(delegationItem(execution), execution).status).toBe(status);
  });
});
