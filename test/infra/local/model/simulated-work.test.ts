import { expect, it } from 'vitest';
import { conversationOf } from '../../../../infra/local/model/conversation.ts';
import type { LaterMessage } from '../../../../infra/local/model/converse-client.ts';
import { simulatedWork } from '../../../../infra/local/model/simulated-work.ts';

const allTools = ['list_tasks', 'get_task', 'create_task', 'update_task', 'comment', 'list_agents', 'delegate_task'];
type Results = Readonly<Record<string, (input: never) => unknown>>;

/** Lets the simulator work until its text, and returns its calls, an array for each turn, and the text. */
function work(user: string, results: Results = {}, offered: readonly string[] = allTools) {
  const tools = offered.map((name) => ({ name, description: name, inputSchema: {} }));
  const later: LaterMessage[] = [];
  const turns: unknown[] = [];
  for (;;) {
    const request = { model: 'm', system: '', user, later, tools, maxTokens: 1 };
    const done = simulatedWork(request, conversationOf(request));
    if ('text' in done) return { turns, text: done.text };
    turns.push(done.calls);
    const calls = done.calls.map((call, at) => ({ id: `${turns.length} ${at}`, ...call }));
    const outputs = calls.map(({ id, name, input }) => ({
      ...{ id, isError: false },
      output: JSON.stringify(results[name]?.(input as never) ?? { error: { message: `No ${name}.` } }),
    }));
    later.push({ role: 'assistant', text: '', calls }, { role: 'user', text: '', results: outputs });
  }
}

const own = { id: 'tk_own', title: 'Launch it', assignedAgent: 'lead', projectId: 'proj_1' };
const working: Results = {
  list_tasks: () => ({ data: [own], pagination: { total: 1 } }),
  create_task: ({ title }: { title: string }) => ({ data: { id: `tk_${title}`, title } }),
  delegate_task: ({ toAgent }: { toAgent: string }) => ({ data: { toAgent } }),
  update_task: ({ id }: { id: string }) => ({ data: { id } }),
};
const split =
  '<task>\nLaunch it\n</task>\n\n<input>\nSplit the task into “Text” and “Links”. Delegate “Text” to writer, and do the other one.\n</input>';

it('splits a task as the input says: it delegates one part, and does the other in the project of the task', () => {
  const instruction = 'Work on the task “Text”.';
  expect(work(split, working)).toEqual({
    turns: [
      [{ name: 'list_tasks', input: { limit: 10, status: 'in_progress' } }],
      [
        { name: 'create_task', input: { title: 'Text', assignedAgent: 'writer', projectId: 'proj_1' } },
        { name: 'create_task', input: { title: 'Links', assignedAgent: 'lead', projectId: 'proj_1' } },
      ],
      [
        { name: 'delegate_task', input: { toAgent: 'writer', taskId: 'tk_Text', instruction } },
        { name: 'update_task', input: { id: 'tk_Links', status: 'qa_review' } },
      ],
    ],
    text: 'The work has 2 parts. writer works on “Text”. I have done “Links”; it waits for its review. (simulated)',
  });
  // The delegated agent has other words, so it passes nothing on.
  expect(work(`<delegated-by>\nlead\n</delegated-by>\n\n<input>\n${instruction}\n</input>`, working).turns).toEqual([]);
});

it('ends with what its tools have refused, and calls no tool a second time', () => {
  const failing = work(split, { ...working, delegate_task: () => ({ error: { message: 'It is not active.' } }) });
  expect(failing.text).toContain('“Text” could not be delegated: It is not active. I have done “Links”');
  expect(work(split).text).toBe(
    'The work has 2 parts. “Text” could not be created: No create_task. “Links” could not be created: No create_task. (simulated)',
  );
});

it('calls only the tools that the agent has', () => {
  const { turns, text } = work(split, working, ['create_task', 'update_task']);
  expect(turns.flat()).toMatchObject([
    { name: 'create_task', input: { title: 'Text', assignedAgent: 'writer' } },
    { name: 'create_task', input: { title: 'Links' } },
    { name: 'update_task' },
  ]);
  expect(text).toContain('“Text” is in the backlog. I have done “Links”');
});

it('only reads the board if it is asked about it', () => {
  const { turns, text } = work('<input>\nWhat is on the board?\n</input>', working);
  expect(turns).toEqual([[{ name: 'list_tasks', input: { limit: 10 } }]]);
  expect(text).toBe('The board has one task. The newest: “Launch it”. (simulated)');
});

it.each([
  'Plan the launch.',
  'Write about “Create” and “Split the board, then delegate it”.',
  'Create a plan, and delegate it to writer.',
])('calls no tool for “%s”', (input) => {
  expect(work(`<input>\n${input}\n</input>`, working).turns).toEqual([]);
});

it('answers with what the prompt has: the input, the task, its dependencies and its reviews', () => {
  const parts = ['dependency-result', 'dependency-result', 'review-comment'].map((name) => `<${name}>\nx\n</${name}>`);
  expect(work(`<task>\nBuild it\n\nIn blue.\n</task>\n\n${parts.join('\n')}\n<input>\nBuild.\n</input>`).text).toBe(
    'I have worked on “Build.” The result fits the task “Build it”, builds on the results of 2 tasks, answers the comments of the review and is ready to be checked. (simulated)',
  );
});
