import { everyItem } from '../../../../lib/client/client.ts';
import type { FieldChange, HistoryEntry } from '../../../../lib/client/operations.ts';
import { TaskId } from '../../../../lib/contract/tasks/tasks.ts';
import { readBy } from '../../command.ts';
import { allOption, apiCommand, limitOption } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printPage, requestPage, type Shape } from '../pages.ts';
import { actorText } from './reviews.ts';
import { exampleTaskId } from './task-status.ts';

/** What the table of a history shows. */
export const historyShape: Shape<HistoryEntry> = {
  columns: {
    at: ({ at }) => at,
    kind: ({ kind }) => kind,
    by: ({ by }) => actorText(by),
    what: ({ changes = [], note, by }) => [...changes.map(changeText), note, by.executionId].filter(Boolean).join('; '),
  },
  flexible: 'what',
};

/** `crewboard tasks history`: lists what has happened to a task. */
export const history = apiCommand(
  'history',
  'List what has happened to a task and who has done it, newest first',
  `tasks history ${exampleTaskId}`,
  `tasks history ${exampleTaskId} --all --json`,
)
  .description(
    'List what has happened to a task and who has done it, newest first. An entry appears about a second after its change.',
  )
  .argument('<id>', 'the id of the task', readBy(TaskId))
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (id, options, command) => {
    const client = connect(options, command);
    const page = await requestPage(
      options,
      (limit) => client.getTaskHistory({ params: { id }, query: { limit } }),
      () => everyItem(client.getTaskHistory, { params: { id } }),
    );
    printPage(page, 'action', historyShape, options);
  });

/** Returns a changed field, such as `status: backlog → done`. */
function changeText({ field, from, to }: FieldChange): string {
  return `${field}: ${from === null ? '' : `${valueText(from)} → `}${valueText(to)}`;
}

function valueText(value: FieldChange['to']): string {
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.join(', ') || 'none';
  return typeof value === 'object' ? `${value.length.toLocaleString('en')} characters` : String(value);
}
