import { expect, it } from 'vitest';
import { autoRunText } from '../../../../../infra/cli/api/tasks/tasks.ts';
import type { TaskDetail } from '../../../../../lib/client/operations.ts';

type State = NonNullable<TaskDetail['autoRun']>;

const executionId = 'ex_01K00000000000000000000000';

it.each<[State, string]>([
  [{ state: 'waiting', reason: 'dependencies' }, 'Starts by itself when its dependencies are done.'],
  [{ state: 'waiting', reason: 'running' }, 'Starts by itself now, or when another execution of its agent ends.'],
  [{ state: 'waiting', reason: 'limit' }, 'Starts by itself when a limit of the organization allows it.'],
  [{ state: 'held', reason: 'chain' }, 'A person has to start it: agents have passed it on.'],
  [{ state: 'held', reason: 'no_delegate' }, 'A person has to start it: the agent that passed it on may not delegate.'],
  [{ state: 'stopped' }, 'Stopped: the service starts no further execution on it.'],
  [{ state: 'stopped', executionId, error: '' }, `Stopped after ${executionId}: it failed`],
  // The error is a text of a model.
  [{ state: 'stopped', executionId, error: 'No\x1b[31m\nink\u202e' }, `Stopped after ${executionId}: No [31m ink`],
  [{ state: 'held', reason: 'later' as 'chain' }, 'A person has to start it.'],
])('of %j, a task says: %s', (autoRun, text) => {
  expect(autoRunText({ autoRun })).toBe(text);
});

it('says nothing of a task that does not wait for an agent that starts by itself', () => {
  expect(autoRunText({})).toBeUndefined();
});
