import { describe, expect, it } from 'vitest';
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
  wholeExecution,
} from '../../../lib/table/executions/execution-items.ts';
import { fc } from '../../seeded.ts';
import { completed, failed, runningExecution } from './execution-table.ts';

const withoutTask = runningExecution();
const running = runningExecution({ taskId: 'tk_01KE0000000000000000000001' });
const dueAt = '2026-01-02T18:38:22.304Z';

/** Returns the items of an execution that ended with an output. */
const itemsOf = (output: string, ending = completed()) => {
  const { due, dueAt: listedAt, ...head } = executionItem(running, dueAt);
  return [{ ...head, ...ending }, inputItem(running, { input: 'Do it.' }), ...outputItems(running, output)];
};

describe('an output', () => {
  const partBytes = 300_000;
  const partsOf = (output: string) => outputItems(running, output).map(({ text }) => text as string);

  it.each([0, 1, partBytes - 1, partBytes, partBytes + 1, 2 * partBytes])('of %i bytes has no empty part', (bytes) => {
    const sizes = [0, 1, 2].map((nth) => Math.min(partBytes, bytes - nth * partBytes)).filter((size) => size > 0);
    expect(partsOf('x'.repeat(bytes)).map(({ length }) => length)).toEqual(sizes);
  });

  it('is split between characters into parts of the greatest size, joined in any order', () => {
    const letters = fc.constantFrom('x', 'é', '€', '🙂', '\u0000', '\u07ff', '\uffff', '\u{10000}', '👩‍👩‍👧');
    const passage = fc.tuple(letters, fc.nat(400_000)).map(([letter, count]) => letter.repeat(count / letter.length));
    fc.assert(
      fc.property(fc.array(passage, { maxLength: 4 }), (passages) => {
        const output = passages.join('');
        const items = itemsOf(output);
        const sizes = partsOf(output).map((part) => Buffer.byteLength(part));
        return (
          wholeExecution(items)?.output === output &&
          wholeExecution(items.toReversed())?.output === output &&
          partsOf(output).every((part) => part.isWellFormed()) &&
          sizes.every((size, at) => size <= partBytes && (at === sizes.length - 1 || size > partBytes - 4))
        );
      }),
      { seed: 1, numRuns: 20 },
    );
  });

  it('of more than ten parts is joined in the order of their numbers', () => {
    const output = [...'abcdefghijkl'].map((letter) => letter.repeat(partBytes)).join('');
    const byKey = itemsOf(output).sort((a, b) => ((a.sk as string) < (b.sk as string) ? -1 : 1));
    expect(wholeExecution(byKey)?.output === output).toBe(true);
  });
});

it('a context keeps all keys and their order, and is absent if the input has none', () => {
  const text =
    '{"zebra":1,"ant":{"y":[],"b":null},"constructor":{"prototype":2},"__proto__":"p","toString":false,"":0,"n":1e-7}';
  const input = inputFrom(inputItem(running, { input: 'Do it.', context: JSON.parse(text) }));
  expect([input.input, JSON.stringify(input.context)]).toEqual(['Do it.', text]);
  expect(inputFrom(inputItem(running, { input: 'Do it.' }))).toEqual({ input: 'Do it.' });
});

it('a head is the same after it was stored, with the id and start of its key, and is listed for the sweeper', () => {
  for (const head of [running, withoutTask]) expect(executionFrom(executionItem(head, dueAt))).toEqual(head);
  expect(executionItem(running, dueAt)).toMatchObject({ due: 'execution', dueAt });
});

const specified = ['id', 'agentName', 'taskId', 'status', 'startedAt'];
const end = ['completedAt', 'durationMs', 'tokensUsed', 'qualityGates'];

it.each<[string, ExecutionHead, string[]]>([
  ['that a worker has leased', { ...running, claims: 1, claim: 'mine', leaseUntil: dueAt }, specified],
  ['without a task', withoutTask, specified.filter((field) => field !== 'taskId')],
  ['that is completed', { ...running, ...completed() }, [...specified, ...end]],
  ['that failed', { ...running, ...failed() }, [...specified, ...end]],
])('the list item of an execution %s has exactly its fields, and the results once it has ended', (_, head, fields) => {
  expect(Object.keys(listItemOf(head))).toEqual(fields);
});

it('a whole execution has no fields of its end while it runs', () => {
  const whole = wholeExecution([executionItem(running, dueAt), inputItem(running, { input: 'Do it.' })]) ?? {};
  for (const field of ['completedAt', 'durationMs', 'output', 'tokensUsed', 'error'])
    expect(whole).not.toHaveProperty(field);
  expect(whole).toMatchObject({ input: 'Do it.', qualityGates: { selfTest: 'pending', qaReview: 'pending' } });
});

it('a whole execution has an output, even an empty one, if it completed, and an error if it failed', () => {
  const { selfTest, qaReview, ...ending } = completed();
  const whole = wholeExecution(itemsOf(''));
  expect(whole).toMatchObject({ ...ending, output: '', qualityGates: { selfTest, qaReview } });
  expect(whole).not.toHaveProperty('error');
  const broken = wholeExecution(itemsOf('half of it', failed()));
  expect(broken).toMatchObject({ status: 'failed', error: 'It went wrong.', tokensUsed: 42 });
  expect(broken).not.toHaveProperty('output');
});

it('a whole execution is `undefined` if its head or its input is missing', () => {
  const [head = {}, input = {}] = itemsOf('');
  for (const items of [[], [head], [input]]) expect(wholeExecution(items)).toBeUndefined();
});

it.each<[string, ExecutionHead, string]>([
  ['was never leased', running, 'accepted'],
  ['is leased', { ...running, claims: 1, firstLeasedAt: dueAt }, 'running'],
  ['was leased by a version that stored no time of the first lease', { ...running, claims: 1 }, 'running'],
  ['was leased and then returned', { ...running, firstLeasedAt: dueAt }, 'running'],
  ['completed', { ...running, ...completed() }, 'completed'],
  ['failed before its first lease', { ...running, ...failed() }, 'failed'],
])('the delegation of an execution that %s has its status', (_, execution, status) => {
  expect(delegationFrom(delegationItem(execution), execution).status).toBe(status);
});
