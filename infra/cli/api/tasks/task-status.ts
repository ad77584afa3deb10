import { Option } from '@commander-js/extra-typings';
import type { Task } from '../../../../lib/client/operations.ts';
import { ClaimId } from '../../../../lib/contract/tasks/claims.ts';
import { readBy } from '../../command.ts';
import { printJson } from '../../json.ts';
import { singleLine } from '../../printable.ts';

/** The id of a task in examples of commands. */
export const exampleTaskId = 'tk_01K00000000000000000000000';

/** Returns the option `--claim-id` of commands that change a task. */
export function claimIdOption(description = 'your claim on the task, as next and claim print it') {
  return new Option('--claim-id <id>', description).argParser(readBy(ClaimId));
}

/** Prints a task after a change: as JSON, or its status in one line. */
export function printStatus(task: Task, { json }: { json?: true | undefined }): void {
  if (json) printJson({ data: task });
  else console.log(`${task.id} is ${task.status}${task.stopped ? ', stopped' : ''}: ${singleLine(task.title)}`);
}
