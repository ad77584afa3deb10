import { expect, it } from 'vitest';
import { estimatedInput } from '../../lib/model/input-estimate.ts';

it('the estimate of a question is a quarter of the bytes of its texts and its tools, rounded up', () => {
  const question = { system: 'a'.repeat(8), user: 'é'.repeat(4) };
  expect(estimatedInput({ system: '', user: '' })).toBe(0);
  expect(estimatedInput({ system: '', user: 'a' })).toBe(1);
  expect(estimatedInput(question)).toBe(4);
  const results = [{ id: 't', output: 'b'.repeat(12), isError: false }];
  const turns = [{ content: '[{"text":"Hi."}]', results }, { note: 'c'.repeat(4) }];
  expect(estimatedInput({ ...question, turns })).toBe(4 + 8);
  const tool = { name: 'get_task', description: 'Reads a task.', inputSchema: { type: 'object' } };
  expect(estimatedInput({ ...question, turns, tools: [tool] })).toBe(Math.ceil((48 + JSON.stringify(tool).length) / 4));
});
