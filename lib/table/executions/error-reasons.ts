/** What happened to executions whose `error` is a code. */
const sentences: Readonly<Record<string, string>> = {
  not_started: 'No worker was free within the waiting limit. Start it again later.',
  deadline: 'It took longer than the time limit of the deployment.',
  lost: 'Two workers in a row were lost while they carried it out. Start it again.',
  step_limit: 'It used up its steps. Raise the maximum number of steps of the agent, or make its task smaller.',
  token_limit: 'It used up its tokens. Raise the maximum number of tokens of the agent, or make its task smaller.',
  cancelled: 'A request cancelled it, or the execution that delegated it.',
  agent_not_active: 'Its agent was deactivated while it ran. Activate the agent, and start it again.',
};

/** Returns whether an error is a code, and not a sentence of any length. */
export function isErrorCode(error: string | undefined): error is string {
  return error !== undefined && Object.hasOwn(sentences, error);
}

/** Why an execution reached its deadline whose model throttled it until then. */
export const waitedForModel =
  'It took longer than the time limit of the deployment: it was waiting for its model, which was overloaded or had too many requests.';

/** Returns why an execution failed, as a sentence; `undefined` if it has not failed. */
export function errorReasonOf({
  status,
  error,
  errorReason,
}: {
  status: string;
  error?: string;
  errorReason?: string;
}): string | undefined {
  if (status !== 'failed' || error === undefined) return undefined;
  return errorReason ?? (isErrorCode(error) ? sentences[error] : error);
}
