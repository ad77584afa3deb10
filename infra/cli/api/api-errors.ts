import { CrewboardError } from '../../../lib/client/client.ts';
import { multipleLines, singleLine } from '../printable.ts';
import { CommandFailure } from '../run-program.ts';
import { startHint } from './connection.ts';

/** Returns the message of an error of the API or of the connection; `undefined` for any other error. */
export function apiErrorText(error: unknown): string | undefined {
  if (!(error instanceof CrewboardError)) return undefined;
  // The connection has failed by an error that has a message for users already.
  if (error.cause instanceof CommandFailure) return error.cause.message;
  return multipleLines(error.code === 'no_response' ? `${error.message}\n${startHint}` : responseText(error));
}

/** Returns the message of an error response, the details that it does not contain, and the id that operators find it by. */
function responseText(error: CrewboardError): string {
  const { message, details, requestId } = error;
  return [
    ...(claimText(error) ?? [
      message,
      ...details
        .filter((detail) => !message.includes(detail.message))
        .map((detail) => `  ${detail.path}: ${detail.message}`),
    ]),
    ...(requestId ? [`Request id: ${requestId}`] : []),
  ].join('\n');
}

/** Returns who has claimed a task, and what to do on the command line; `undefined` for any other error. */
function claimText({ code, details: [claim] }: CrewboardError): string[] | undefined {
  if (code !== 'task_claimed' || claim?.worker === undefined) return undefined;
  return [
    'A worker has claimed the task; wait for its release, or take it back with: tasks take-back ID. The worker itself changes it with --claim-id.',
    `  worker: ${singleLine(claim.worker)}`,
    `  until: ${claim.expiresAt}`,
  ];
}
