import { Option } from '@commander-js/extra-typings';
import { AgentName, ProjectId } from '../../../../lib/contract/shapes.ts';
import { taskPriorities, taskStatuses } from '../../../../lib/contract/tasks/tasks.ts';
import { readBy } from '../../command.ts';

/** The options of commands that list or count the tasks with a value. */

export function statusFilter() {
  return new Option('--status <status>', 'only tasks with this status').choices(taskStatuses);
}

export function priorityFilter() {
  return new Option('--priority <priority>', 'only tasks with this priority').choices(taskPriorities);
}

export function agentFilter() {
  return new Option('--agent <name>', 'only tasks that are assigned to this agent').argParser(readBy(AgentName));
}

export function projectFilter() {
  return new Option('--project <id>', 'only tasks of this project').argParser(readBy(ProjectId));
}

export function waitingForFilter() {
  return new Option('--waiting-for <what>', 'only tasks that wait for a review')
    .choices(['review'] as const)
    .conflicts('status');
}
