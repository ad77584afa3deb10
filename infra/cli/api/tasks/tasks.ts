import { Argument, Option } from '@commander-js/extra-typings';
import { everyItem } from '../../../../lib/client/client.ts';
import type { Task, TaskDetail, TaskReference, TaskResult, TaskStatus } from '../../../../lib/client/operations.ts';
import { AgentName, ProjectId } from '../../../../lib/contract/shapes.ts';
import { TaskId, taskPriorities, taskStatuses } from '../../../../lib/contract/tasks/tasks.ts';
import { codePoints } from '../../../../lib/contract/texts/code-points.ts';
import { executionStateText, tokensText } from '../../../texts.ts';
import { readBy } from '../../command.ts';
import { printJson } from '../../json.ts';
import { singleLine } from '../../printable.ts';
import { allOption, apiCommand, apiGroup, limitOption } from '../api-command.ts';
import { type ConnectionOptions, connect, type Reporter } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { gatesText } from '../executions/follow.ts';
import { printCursorPage, printList, printPage, readByCursor, requestPage, type Shape } from '../pages.ts';
import { count } from './count-tasks.ts';
import { editTask, remove } from './edit-task.ts';
import { history } from './history.ts';
import { comment, comments, deleteCommentCommand, editComment, review } from './reviews.ts';
import { agentFilter, priorityFilter, projectFilter, statusFilter, waitingForFilter } from './task-filters.ts';
import { claimIdOption, exampleTaskId, printStatus } from './task-status.ts';

const taskShape: Shape<Task> = {
  columns: {
    id: ({ id }) => id,
    status: ({ status }) => status,
    priority: ({ priority }) => priority,
    agent: ({ assignedAgent }) => assignedAgent,
    worker: ({ claim }) => claim?.worker,
    title: ({ title }) => title,
  },
  flexible: 'title',
};

const list = apiCommand(
  'list',
  'List tasks, newest first',
  'tasks list --status backlog --priority high',
  'tasks list --agent builder --all --json',
  'tasks list --waiting-for review',
)
  .addOption(statusFilter())
  .addOption(priorityFilter())
  .addOption(agentFilter())
  .addOption(projectFilter())
  .addOption(waitingForFilter())
  .addOption(limitOption())
  .addOption(allOption())
  .action(async ({ status, priority, agent, project, waitingFor, ...options }, command) => {
    const client = connect(options, command);
    const query = { status, priority, assigned_agent: agent, project_id: project, waiting_for: waitingFor };
    const page = await requestPage(
      options,
      (limit) => client.listTasks({ query: { ...query, limit } }),
      () => everyItem(client.listTasks, { query }),
    );
    printPage(page, 'task', taskShape, options);
  });

const ready = apiCommand(
  'ready',
  'List the tasks that a worker can take now, the highest priority first',
  'tasks ready',
  'tasks ready --agent builder --limit 5 --json',
)
  .description(
    'List the tasks that a worker can take now, the highest priority first, then the oldest. It lists --limit of them, without a total.',
  )
  .addOption(agentFilter())
  .addOption(projectFilter())
  .addOption(limitOption())
  .action(async ({ agent, project, limit, ...options }, command) => {
    const query = { assigned_agent: agent, project_id: project, limit };
    const { data } = await connect(options, command).listReadyTasks({ query });
    printList(data, 'task', taskShape, options);
  });

const search = apiCommand(
  'search',
  'Find tasks by the words of their titles, newest first',
  'tasks search landing page',
  'tasks search land --status backlog --all',
)
  .description(
    'Find tasks by the words of their titles, newest first. Each word must be the beginning of a word of the title, in any letter case. A new title is found about a second later.',
  )
  .argument('<words...>', 'the words, or their beginnings; together 2 to 100 characters')
  .addOption(statusFilter())
  .addOption(priorityFilter())
  .addOption(agentFilter())
  .addOption(projectFilter())
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (words, { status, priority, agent, project, ...options }, command) => {
    const client = connect(options, command);
    const query = { q: words.join(' '), status, priority, assigned_agent: agent, project_id: project };
    const page = await readByCursor(options, (place) => client.searchTasks({ query: { ...query, ...place } }));
    printCursorPage(page, 'task', taskShape, options);
  });

const add = apiCommand(
  'add',
  'Create a task and print its id',
  'tasks add "Draw the landing page" --priority high',
  `tasks add "Build it" --agent builder --depends-on ${exampleTaskId}`,
)
  .argument('<title>', 'a short summary of the task')
  .option('--description <text>', 'details or acceptance criteria')
  .addOption(new Option('--status <status>', 'the status (default: backlog)').choices(taskStatuses))
  .addOption(new Option('--priority <priority>', 'the priority (default: medium)').choices(taskPriorities))
  .option('--agent <name>', 'the agent that the task is assigned to', readBy(AgentName))
  .option('--project <id>', 'the project', readBy(ProjectId))
  .option('--depends-on <id...>', 'the tasks that must be done first', readTaskIds)
  .action(async (title, { description, status, priority, agent, project, dependsOn, ...options }, command) => {
    const body = { title, description, status, priority, assignedAgent: agent, projectId: project, dependsOn };
    const { data } = await connect(options, command).createTask({ body });
    if (options.json) return printJson({ data });
    console.log(data.id);
  });

const show = apiCommand('show', 'Show a task', `tasks show ${exampleTaskId}`, `tasks show ${exampleTaskId} --result`)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .option('--result', 'also the newest ended execution on it: its output, and what the quality gates answered')
  .action(async (id, { result: withResult, ...options }, command) => {
    const query = { include: withResult && ('result' as const) };
    const { data: task } = await connect(options, command).getTask({ params: { id }, query });
    const rows = [
      ['id', task.id],
      ['title', task.title],
      ['status', task.status],
      ['priority', task.priority],
      ['agent', task.assignedAgent],
      ['project', task.projectId],
      ['worker', task.claim?.worker],
      ['claim until', task.claim?.expiresAt],
      ['claim note', task.claim?.note],
      ['stopped', task.stopped && `since ${task.stopped.at}: ${task.stopped.reason}`],
      ['auto run', autoRunText(task)],
      ['depends on', task.dependsOn.map(referenceText).join('\n')],
      ['blocked by', task.blockedBy.map(referenceText).join('\n')],
      ['created', task.createdAt],
      ['updated', task.updatedAt],
      ['description', task.description],
      ...(withResult ? resultRows(task.result) : []),
    ] as const;
    printDetail(task, rows, options);
  });

/** Returns the newest ended execution on a task as labels and values. */
function resultRows(result: TaskResult | undefined): (readonly [string, string | undefined])[] {
  if (!result) return [['result', 'No execution on the task has ended.']];
  const { executionId, agentName, errorReason, output = '', outputLength, gateReasons } = result;
  const isCut = codePoints(output) < outputLength;
  const rest = `\n… ${outputLength.toLocaleString('en')} characters in all: executions show ${executionId} --agent ${agentName}`;
  return [
    ['result', `${executionStateText(result)} at ${result.completedAt}`],
    ['reason', errorReason],
    ['execution', `${executionId} of ${agentName}`],
    ['tokens', tokensText(result)],
    ['quality gates', gatesText(result.qualityGates)],
    ['self-test', gateReasons?.selfTest],
    ['QA review', gateReasons?.qaReview],
    ['output', isCut ? output + rest : output],
  ];
}

const move = apiCommand('move', 'Change the status of a task', `tasks move ${exampleTaskId} in_progress`)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .addArgument(new Argument('<status>', 'the new status').choices(taskStatuses))
  .addOption(claimIdOption())
  .action((id, status, options, command) => moveTask(id, status, options, command));

const done = apiCommand('done', 'Change the status of a task to done', `tasks done ${exampleTaskId}`)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .addOption(claimIdOption())
  .action((id, options, command) => moveTask(id, 'done', options, command));

const takeBack = apiCommand(
  'take-back',
  'Take a claimed task back from its worker, or free a stopped task',
  `tasks take-back ${exampleTaskId}`,
)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .action(async (id, options, command) => {
    const { data } = await connect(options, command).takeBackTask({ params: { id } });
    printStatus(data, options);
  });

/** `crewboard tasks`: the tasks of the board. */
export const tasks = apiGroup(
  'tasks',
  'List, find, create, show, change, review, discuss and delete tasks',
  'tasks list --status in_progress',
)
  .addCommand(list)
  .addCommand(ready)
  .addCommand(search)
  .addCommand(count)
  .addCommand(add)
  .addCommand(show)
  .addCommand(editTask)
  .addCommand(move)
  .addCommand(done)
  .addCommand(review)
  .addCommand(comment)
  .addCommand(comments)
  .addCommand(editComment)
  .addCommand(deleteCommentCommand)
  .addCommand(history)
  .addCommand(takeBack)
  .addCommand(remove);

async function moveTask(
  id: string,
  status: TaskStatus,
  { claimId, ...options }: ConnectionOptions & { claimId?: string | undefined; json?: true | undefined },
  command: Reporter,
): Promise<void> {
  const { data } = await connect(options, command).updateTask({ params: { id }, body: { status, claimId } });
  printStatus(data, options);
}

const waitingTexts = {
  dependencies: 'Starts by itself when its dependencies are done.',
  running: 'Starts by itself now, or when another execution of its agent ends.',
  limit: 'Starts by itself when a limit of the organization allows it.',
} as const;
const heldTexts = {
  chain: 'A person has to start it: agents have passed it on.',
  no_delegate: 'A person has to start it: the agent that passed it on may not delegate.',
} as const;

/** Returns whether a task starts by itself, or why not; `undefined` if it does not wait for an agent that does. */
export function autoRunText({ autoRun }: Pick<TaskDetail, 'autoRun'>): string | undefined {
  if (!autoRun) return undefined;
  const { state, reason = '', executionId, error } = autoRun;
  if (state === 'stopped') {
    if (executionId === undefined) return 'Stopped: the service starts no further execution on it.';
    return `Stopped after ${executionId}: ${singleLine(error || 'it failed')}`;
  }
  // A reason of a later version has no text here.
  const texts: Record<string, string> = state === 'held' ? heldTexts : waitingTexts;
  return texts[reason] ?? (state === 'held' ? 'A person has to start it.' : 'Starts by itself.');
}

function referenceText({ id, status, title }: TaskReference): string {
  return `${id}  ${status}  ${singleLine(title)}`;
}

const readTaskId = readBy(TaskId);

function readTaskIds(given: string, others: string[] = []): string[] {
  return [...others, readTaskId(given)];
}
