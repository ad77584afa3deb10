import { Option } from '@commander-js/extra-typings';
import type { TaskGroup } from '../../../../lib/client/operations.ts';
import { TaskGrouping } from '../../../../lib/contract/tasks/tasks.ts';
import { apiCommand } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printTable, type Shape } from '../pages.ts';
import { agentFilter, priorityFilter, projectFilter, statusFilter, waitingForFilter } from './task-filters.ts';

/** `crewboard tasks count`: counts the tasks by a field. */
export const count = apiCommand(
  'count',
  'Count tasks by their status, their priority or their agent',
  'tasks count',
  'tasks count --by assigned_agent --status in_progress --json',
)
  .addOption(new Option('--by <field>', 'the field').choices(TaskGrouping.options).default('status' as const, 'status'))
  .addOption(statusFilter())
  .addOption(priorityFilter())
  .addOption(agentFilter())
  .addOption(projectFilter())
  .addOption(waitingForFilter())
  .action(async ({ by, status, priority, agent, project, waitingFor, ...options }, command) => {
    const filters = { status, priority, assigned_agent: agent, project_id: project, waiting_for: waitingFor };
    const { data } = await connect(options, command).countTasks({ query: { ...filters, group_by: by } });
    const shape: Shape<TaskGroup> = {
      columns: {
        [by.replace('_', ' ')]: ({ value }) => value ?? 'none',
        tasks: (group) => group.count.toLocaleString('en'),
      },
      flexible: by.replace('_', ' '),
    };
    printTable(data, data.groups, shape, `${data.total.toLocaleString('en')} in all.`, options);
  });
