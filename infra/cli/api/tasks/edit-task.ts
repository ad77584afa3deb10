import { Option } from '@commander-js/extra-typings';
import { AgentName, ProjectId } from '../../../../lib/contract/shapes.ts';
import { TaskId, taskPriorities, taskStatuses } from '../../../../lib/contract/tasks/tasks.ts';
import { readBy } from '../../command.ts';
import { apiCommand } from '../api-command.ts';
import { confirmDeletion, printDeleted, yesOption } from '../confirmation.ts';
import { connect } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { cleared, givenText, orEmpty } from '../given-values.ts';
import { claimIdOption, exampleTaskId } from './task-status.ts';

const readTaskId = readBy(TaskId);

/** `crewboard tasks edit`: changes any fields of a task. */
export const editTask = apiCommand(
  'edit',
  'Change the fields of a task',
  `tasks edit ${exampleTaskId} --title "Draw the landing page" --priority high`,
  `tasks edit ${exampleTaskId} --agent builder --project ''`,
)
  .description('Change the fields of a task. Leave out what stays; an empty text clears a field.')
  .argument('<id>', 'the id of the task', readTaskId)
  .option('--title <text>', 'a short summary of the task')
  .option('--description <text>', "details or acceptance criteria; - reads them from standard input, '' removes them")
  .addOption(new Option('--status <status>', 'the status').choices(taskStatuses))
  .addOption(new Option('--priority <priority>', 'the priority').choices(taskPriorities))
  .option('--agent <name>', "the agent that the task is assigned to; '' removes it", orEmpty(readBy(AgentName)))
  .option('--project <id>', "the project; '' removes it", orEmpty(readBy(ProjectId)))
  .option('--depends-on <list>', "all tasks that must be done first, separated by commas; '' removes them", readTaskIds)
  .addOption(claimIdOption())
  .action(async (id, { title, description, status, priority, agent, project, dependsOn, ...rest }, command) => {
    const { claimId, ...options } = rest;
    const changes = {
      ...{ title, status, priority, dependsOn },
      description: cleared(await givenText(description)),
      assignedAgent: cleared(agent),
      projectId: cleared(project),
    };
    if (Object.values(changes).every((value) => value === undefined))
      command.error(
        'error: Name a change: --title, --description, --status, --priority, --agent, --project or --depends-on.',
      );
    const body = { ...changes, claimId };
    const { data: task } = await connect(options, command).updateTask({ params: { id }, body });
    const rows = [
      ['id', task.id],
      ['title', task.title],
      ['status', task.status],
      ['priority', task.priority],
      ['agent', task.assignedAgent],
      ['project', task.projectId],
      ['depends on', task.dependsOn.join('\n')],
      ['description', task.description],
    ] as const;
    printDetail(task, rows, options);
  });

/** `crewboard tasks delete`: deletes a task. */
export const remove = apiCommand(
  'delete',
  'Delete a task',
  `tasks delete ${exampleTaskId}`,
  `tasks delete ${exampleTaskId} --yes`,
)
  .description('Delete a task permanently. Tasks that are not done must not depend on it.')
  .argument('<id>', 'the id of the task', readTaskId)
  .addOption(yesOption())
  .action(async (id, { yes, ...options }, command) => {
    const client = connect(options, command);
    await confirmDeletion({ yes }, command, async () => {
      const { data: task } = await client.getTask({ params: { id } });
      return `the task ${id} "${task.title}"`;
    });
    await client.deleteTask({ params: { id } });
    printDeleted(`the task ${id}`, { id }, options);
  });

function readTaskIds(given: string): string[] {
  return given === '' ? [] : given.split(',').map((id) => readTaskId(id.trim()));
}
