import { expect, it } from 'vitest';
import { toolScopesOf } from '../../../lib/contract/agents/agent-operations.ts';

it.each([
  [[], []],
  [['html', 'tasks', 'TASKS.READ'], []],
  [['tasks.read'], ['tasks:read']],
  // The capability grants get_task too.
  [['tasks.write'], ['tasks:read', 'tasks:write']],
  [['delegate'], ['agents:read', 'agents:execute']],
  [['skills'], ['agents:read']],
  [
    ['skills', 'delegate', 'css', 'tasks.write', 'tasks.read'],
    ['tasks:read', 'tasks:write', 'agents:read', 'agents:execute'],
  ],
])('the tools of an agent with the capabilities %j stand for the scopes %j', (capabilities, scopes) => {
  expect(toolScopesOf(capabilities)).toEqual(scopes);
});
