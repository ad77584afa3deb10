import { shortened } from '../../../lib/contract/texts/code-points.ts';
import type { Conversation } from './conversation.ts';
import type { ModelRequest } from './converse-client.ts';

/** The mark of each text of the simulator that no rule has given, by which people and programs recognize it. */
export const mark = '(simulated)';

/** How many code points of an input an answer quotes, and the most tasks that an input can ask for. */
const quotedLength = 200;
const mostParts = 5;

/** A call of a tool. */
type Call = { name: string; input: Record<string, unknown> };

/** What the simulator does without a rule: it calls tools, or ends with a text. */
type Work = { calls: readonly Call[] } | { text: string };

/** A task that an input asks for, with the agent that it is delegated to. */
type Part = { title: string; agent: string | undefined };

/** What an input asks for in words. */
type Wishes = {
  /** The tasks to create. */
  parts: readonly Part[];
  /** Whether the agent does itself what it does not delegate. */
  doesRest: boolean;
  readsBoard: boolean;
};

type Failed = { error: { message: string } };
type Task = { id: string; title: string; assignedAgent?: string; projectId?: string };

/**
 * Returns what the simulator does without a rule. It calls only tools that the request offers, and only if the input asks for
 * it in words: it reads the board; with "split" or "create" it creates the tasks whose titles are in quotation marks; with
 * "delegate" it delegates them to the agents that the input names, and with "do" it does the others. Each tool has its turn
 * once, so the conversation ends after three turns.
 */
export function simulatedWork({ user, tools }: ModelRequest, { results }: Conversation): Work {
  const wishes = wishesOf(sectionOf(user, 'input') ?? user);
  const resultsOf = (tool: string) => results.filter((one) => one.tool === tool).map(({ output }) => parsed(output));
  const isNext = (tool: string) => tools.some(({ name }) => name === tool) && resultsOf(tool).length === 0;
  const isSplit = wishes.parts.length > 0;
  const listed = listIn(resultsOf('list_tasks')[0]);
  const created = resultsOf('create_task');
  const delegated = resultsOf('delegate_task');
  const updated = resultsOf('update_task');

  if ((wishes.readsBoard || isSplit) && isNext('list_tasks') && created.length === 0)
    return callOf('list_tasks', { limit: 10, ...(isSplit && { status: 'in_progress' }) });
  if (isSplit && isNext('create_task'))
    return { calls: wishes.parts.map((part) => ({ name: 'create_task', input: taskOf(part, ownTask(user, listed)) })) };
  if (delegated.length + updated.length === 0) {
    const calls = handedOn(wishes, created).filter(({ name }) => isNext(name));
    if (calls.length > 0) return { calls };
  }
  if (created.length > 0) return ended(splitReport(wishes.parts, created, delegated, updated));
  return ended(listed ? boardReport(listed, resultsOf('list_tasks')[0]) : workReport(user));
}

const callOf = (name: string, input: Record<string, unknown>): Work => ({ calls: [{ name, input }] });
const ended = (sentences: string): Work => ({ text: `${sentences} ${mark}` });

const quoted = /[“"]([^“”"\n]+)[”"]/g;

function wishesOf(input: string): Wishes {
  // A word in a title asks for nothing.
  const words = input.replace(quoted, '“”');
  const delegations = input.matchAll(/\bdelegate [“"]([^“”"\n]+)[”"] to (?:the agent )?([\w-]+)/gi);
  const agents = new Map([...delegations].map(([, title, agent]) => [title, agent]));
  const titles = new Set([...input.matchAll(quoted)].map(([, title = '']) => title));
  const isSplit = titles.size > 0 && /\b(split|create)\b/i.test(words);
  return {
    parts: isSplit ? [...titles].slice(0, mostParts).map((title) => ({ title, agent: agents.get(title) })) : [],
    doesRest: /\bdo\b/i.test(words),
    readsBoard: /\bboard\b|\blist (?:\w+ )?tasks\b/i.test(words),
  };
}

/** Returns the task that the agent works on, as its list has it. A prompt has only the title. */
function ownTask(user: string, listed: readonly Task[] | undefined): Task | undefined {
  const [title] = (sectionOf(user, 'task') ?? '').split('\n');
  return listed?.find((one) => one.title === title);
}

/** Returns the task for a part, in the project of the task that it is a part of. */
function taskOf({ title, agent }: Part, { assignedAgent = undefined, projectId = undefined }: Partial<Task> = {}) {
  const assigned = agent ?? assignedAgent;
  return { title, ...(assigned && { assignedAgent: assigned }), ...(projectId && { projectId }) };
}

/** Returns the calls that delegate the created parts, or say that they are done. */
function handedOn({ parts, doesRest }: Wishes, created: readonly unknown[]): Call[] {
  return parts.flatMap(({ title, agent }, at): Call[] => {
    const { id } = dataOf<Task>(created[at]) ?? {};
    if (id === undefined) return [];
    if (agent)
      return [
        { name: 'delegate_task', input: { toAgent: agent, taskId: id, instruction: `Work on the task “${title}”.` } },
      ];
    return doesRest ? [{ name: 'update_task', input: { id, status: 'qa_review' } }] : [];
  });
}

function splitReport(
  parts: readonly Part[],
  created: readonly unknown[],
  delegated: readonly unknown[],
  updated: readonly unknown[],
): string {
  const delegations = delegated.values();
  const updates = updated.values();
  const sentences = parts.map(({ title, agent }, at) => {
    const name = `“${title}”`;
    const made = created[at];
    if (!dataOf(made)) return `${name} could not be created: ${messageOf(made)}`;
    const result = (agent ? delegations : updates).next().value;
    if (result === undefined) return `${name} is in the backlog.`;
    if (!dataOf(result)) return `${name} could not be ${agent ? 'delegated' : 'finished'}: ${messageOf(result)}`;
    return agent ? `${agent} works on ${name}.` : `I have done ${name}; it waits for its review.`;
  });
  return [`The work has ${parts.length === 1 ? 'one part' : `${parts.length} parts`}.`, ...sentences].join(' ');
}

function boardReport(listed: readonly Task[], result: unknown): string {
  const { pagination } = result as { pagination?: { total?: number } };
  const total = pagination?.total ?? listed.length;
  if (total === 0) return 'The board has no tasks.';
  const titles = listed.slice(0, 3).map(({ title }) => `“${title}”`);
  return `The board has ${total === 1 ? 'one task' : `${total} tasks`}. The newest: ${titles.join(', ')}.`;
}

/** Returns an answer that reads like work. It states only what the prompt has. */
function workReport(user: string): string {
  const [title] = (sectionOf(user, 'task') ?? '').split('\n');
  const earlier = user.match(/<dependency-result>/g)?.length ?? 0;
  const facts = [
    ...(title ? [`fits the task “${title}”`] : []),
    ...(earlier > 0 ? [`builds on the results of ${earlier === 1 ? 'one task' : `${earlier} tasks`}`] : []),
    ...(user.includes('<review-comment>') ? ['answers the comments of the review'] : []),
    'is ready to be checked',
  ];
  const last = facts.pop();
  const result = facts.length > 0 ? `${facts.join(', ')} and ${last}` : last;
  const asked = startOf(sectionOf(user, 'input') ?? user);
  return `I have worked on “${asked}”${/[.!?…]$/.test(asked) ? '' : '.'} The result ${result}.`;
}

/** Returns the start of a text in one line, in whole characters. */
function startOf(text: string): string {
  return shortened(text.replace(/\s+/g, ' ').trim(), quotedLength);
}

/** Returns the text of the last section of a prompt with this name. */
function sectionOf(prompt: string, name: 'input' | 'task'): string | undefined {
  const start = prompt.lastIndexOf(`<${name}>\n`);
  const end = prompt.lastIndexOf(`\n</${name}>`);
  return start >= 0 && end > start ? prompt.slice(start + name.length + 3, end) : undefined;
}

/** Returns the value of JSON; `undefined` if a result was cut, or is none. */
function parsed(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}

/** Returns the data of a result; `undefined` if the call failed. */
function dataOf<Data>(result: unknown): Data | undefined {
  return (result as { data?: Data } | undefined)?.data;
}

function listIn(result: unknown): readonly Task[] | undefined {
  const data = dataOf<readonly Task[]>(result);
  return Array.isArray(data) ? data : undefined;
}

const messageOf = (result: unknown) => (result as Failed | undefined)?.error?.message ?? 'the tool gave no result.';
