import { expect, it } from 'vitest';
import { eventRows } from '../../lib/contract/webhooks/events.ts';
import { incompleteEvents } from '../../scripts/incomplete-events.ts';

const row = eventRows['task.created'];

it('a row without a field is named with the field and its file', () => {
  const { when, example, ...rest } = row;
  expect(incompleteEvents({ 'task.created': row, 'task.archived': rest })).toEqual([
    'The event task.archived has no `when`; add it to its row in lib/contract/webhooks/events.ts.',
    'The event task.archived has no `example`; add it to its row in lib/contract/webhooks/events.ts.',
  ]);
  expect(incompleteEvents({ 'task.archived': {} })).toHaveLength(4);
});

it('an example that is not of the schema of its row is named with the field', () => {
  const example = { ...row.example, task: { ...row.example.task, status: 'archived' } };
  expect(incompleteEvents({ 'task.archived': { ...row, example } })).toEqual([
    expect.stringMatching(/^The example of task\.archived does not fit its schema: task\.status must be one of/),
  ]);
});

it('the rows of the contract are complete', () => {
  expect(incompleteEvents(eventRows)).toEqual([]);
});
