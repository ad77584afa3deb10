import { type ExecutionListItem, inputStartLength } from '../contract/executions/executions.ts';
import type { Organization } from '../contract/organization.ts';
import { startOf } from '../contract/texts/code-points.ts';
import type { TableContext } from '../table/access/client.ts';
import { readInputTexts } from '../table/executions/executions.ts';
import { readTasks } from '../table/tasks/tasks.ts';

/**
 * Adds to executions what each is about: the start of its input, and the title that its task has now. Neither is stored with
 * the rows of the lists, so executions of earlier versions have them too. The reads of a page are made together.
 *
 * @param hasTitles `false`: leave out the titles of tasks, and do not read the tasks
 */
export async function withSubjects(
  context: TableContext,
  organization: Organization,
  executions: readonly ExecutionListItem[],
  hasTitles: boolean,
): Promise<ExecutionListItem[]> {
  const taskIds = new Set(hasTitles ? executions.flatMap(({ taskId }) => taskId ?? []) : []);
  const ids = executions.map(({ id }) => id);
  const [inputs, tasks] = await Promise.all([
    readInputTexts(context, organization, ids),
    readTasks(context, organization, [...taskIds]),
  ]);
  const titles = new Map(tasks.map(({ id, title }) => [id, title]));
  return executions.map((execution, at) => {
    const input = inputs[at];
    const taskTitle = titles.get(execution.taskId ?? '');
    return {
      ...execution,
      ...(input !== undefined && { inputStart: startOf(input, inputStartLength) }),
      ...(taskTitle !== undefined && { taskTitle }),
    };
  });
}
