import ora from 'ora';
import { type Client, waitForExecution } from '../../../../lib/client/client.ts';
import type { Execution, ExecutionStarted } from '../../../../lib/client/operations.ts';
import { durationText, executionStateText } from '../../../texts.ts';
import { printJson } from '../../json.ts';
import { multipleLines, singleLine } from '../../printable.ts';
import { exitCodes } from '../../run-program.ts';
import { invocation } from '../api-command.ts';

/** How often the line of a running execution is updated on a terminal. */
const updateMs = 1000;

/**
 * Waits until an execution has ended, and returns it. Shows its progress on standard error: on a terminal as one line that
 * is updated and removed at the end, elsewhere as a line for each change.
 */
export async function followExecution(
  client: Pick<Client, 'getExecution'>,
  { name, id }: { name: string; id: string },
  stream: NodeJS.WriteStream = process.stderr,
): Promise<Execution> {
  // Some terminals report 0 columns. There ora would clear infinitely many lines.
  const hasLine = stream.isTTY && stream.columns > 0;
  const line = ora({ text: `${name} ${id}`, stream, discardStdin: false, isEnabled: hasLine });
  let current: Execution | undefined;
  const update = () => {
    if (current) line.text = progressText(current);
  };
  const timer = setInterval(update, updateMs);
  if (hasLine) line.start();
  try {
    return await waitForExecution(client, {
      name,
      id,
      // An execution ends by itself: an hour after its start at the latest if no worker is free.
      timeoutMs: Number.POSITIVE_INFINITY,
      onChange: (execution) => {
        current = execution;
        if (hasLine) update();
        else if (execution.status === 'running') stream.write(`${execution.agentName} ${execution.id} running\n`);
      },
    });
  } finally {
    clearInterval(timer);
    line.stop();
  }
}

/** Prints the id of a started execution, or waits for its end and prints its output. */
export async function reportStart(
  client: Pick<Client, 'getExecution'>,
  started: ExecutionStarted,
  { wait, json }: { wait?: true | undefined; json?: true | undefined },
): Promise<void> {
  const { agentName: name, executionId: id } = started;
  if (!wait) {
    if (json) return printJson({ data: started });
    console.error(`To follow it: ${invocation} executions watch ${id} --agent ${name}`);
    return console.log(id);
  }
  const execution = await followExecution(client, { name, id });
  reportEnd(execution);
  if (json) return printJson({ data: execution });
  if (execution.output !== undefined) console.log(outputText(execution.output));
}

/** Returns the output unchanged for a file or a program, and without control characters for a terminal. */
function outputText(output: string): string {
  return process.stdout.isTTY ? multipleLines(output) : output;
}

/** Prints how an execution has ended to standard error, and sets the exit code. */
export function reportEnd(execution: Execution): void {
  const { agentName, id, status, durationMs = 0, error = '', errorReason = error, qualityGates } = execution;
  if (status === 'failed') process.exitCode = exitCodes.failed;
  const result = status === 'failed' ? singleLine(errorReason) : gatesText(qualityGates);
  console.error(`${agentName} ${id} ${executionStateText(execution)} after ${durationText(durationMs)}: ${result}`);
}

/** Returns the results of the quality gates: `self-test passed, QA review failed`. */
export function gatesText({ selfTest, qaReview }: Execution['qualityGates']): string {
  return `self-test ${selfTest}, QA review ${qaReview}`;
}

function progressText({ agentName, id, status, startedAt }: Execution): string {
  return `${agentName} ${id} ${status}, ${durationText(Math.max(Date.now() - Date.parse(startedAt), 0))}`;
}
