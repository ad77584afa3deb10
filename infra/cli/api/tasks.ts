import { Argument, Option } from '@commander-js/extra-typings';
import { everyItem } from '../../../lib/client/client.ts';
import type { Task, TaskDetail, TaskReference, TaskStatus } from '../../../lib/client/operations.ts';
import { ClaimId } from '../../../lib/contract/claims.ts';
import { AgentName, ProjectId } from '../../../lib/contract/shapes.ts';
import { TaskId, taskPriorities, taskStatuses } from '../../../lib/contract/tasks.ts';
import { readBy } from '../command.ts';
import { printJson } from '../json.ts';
import { singleLine } from '../printable.ts';
import { allOption, apiCommand, apiGroup, limitOption } from './api-command.ts';
import { type ConnectionOptions, connect, type Reporter } from './connection.ts';
import { printDetail } from './detail.ts';
import { printPage, readPage, type Shape } from './pages.ts';

const exampleId = 'tk_01K00000000000000000000000';

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
)
  .addOption(new Option('--status <status>', 'only tasks with this status').choices(taskStatuses))
  .addOption(new Option('--priority <priority>', 'only tasks with this priority').choices(taskPriorities))
  .option('--agent <name>', 'only tasks that are assigned to this agent', readBy(AgentName))
  .option('--project <id>', 'only tasks of this project', readBy(ProjectId))
  .addOption(limitOption())
  .addOption(allOption())
  .action(async ({ status, priority, agent, project, ...options }, command) => {
    const client = connect(options, command);
    const query = { status, priority, assigned_agent: agent, project_id: project };
    const page = await readPage(
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
  .option('--agent <name>', 'only tasks that are assigned to this agent', readBy(AgentName))
  .option('--project <id>', 'only tasks of this project', readBy(ProjectId))
  .addOption(limitOption())
  .action(async ({ agent, project, limit, ...options }, command) => {
    const query = { assigned_agent: agent, project_id: project, limit };
    const { data } = await connect(options, command).listReadyTasks({ query });
    if (options.json) return printJson({ data });
    printPage({ data, pagination: { limit: data.length, offset: 0, total: data.length } }, 'task', taskShape, {});
  });

const add = apiCommand(
  'add',
  'Create a task and print its id',
  'tasks add "Draw the landing page" --priority high',
  `tasks add "Build it" --agent builder --depends-on ${exampleId}`,
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

const show = apiCommand('show', 'Show a task', `tasks show ${exampleId}`)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .action(async (id, options, command) => {
    const { data: task } = await connect(options, command).getTask({ params: { id } });
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
    ] as const;
    printDetail(task, rows, options);
  });

const move = apiCommand('move', 'Change the status of a task', `tasks move ${exampleId} in_progress`)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .addArgument(new Argument('<status>', 'the new status').choices(taskStatuses))
  .addOption(claimIdOption())
  .action((id, status, options, command) => moveTask(id, status, options, command));

const done = apiCommand('done', 'Change the status of a task to done', `tasks done ${exampleId}`)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .addOption(claimIdOption())
  .action((id, options, command) => moveTask(id, 'done', options, command));

const takeBack = apiCommand(
  'take-back',
  'Take a claimed task back from its worker, or free a stopped task',
  `tasks take-back ${exampleId}`,
)
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .action(async (id, options, command) => {
    const { data } = await connect(options, command).takeBackTask({ params: { id } });
    printStatus(data, options);
  });

/** `crewboard tasks`: the tasks of the board. */
export const tasks = apiGroup(
  'tasks',
  'List, create, show, move and take back tasks',
  'tasks list --status in_progress',
)
  .addCommand(list)
  .addCommand(ready)
  .addCommand(add)
  .addCommand(show)
  .addCommand(move)
  .addCommand(done)
  .addCommand(takeBack);

async function moveTask(
  id: string,
  status: TaskStatus,
  { claimId, ...options }: ConnectionOptions & { claimId?: string | undefined; json?: true | undefined },
  command: Reporter,
): Promise<void> {
  const { data } = await connect(options, command).updateTask({ params: { id }, body: { status, claimId } });
  printStatus(data, options);
}

/** Returns the option `--claim-id` of commands that change a task. */
export function claimIdOption(description = 'your claim on the task, as next and claim print it') {
  return new Option('--claim-id <id>', description).argParser(readBy(ClaimId));
}

/** Prints a task after a change: as JSON, or its status in one line. */
export function printStatus(task: Task, { json }: { json?: true | undefined }): void {
  if (json) printJson({ data: task });
  else console.log(`${task.id} is ${task.status}${task.stopped ? ', stopped' : ''}: ${singleLine(task.title)}`);
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
