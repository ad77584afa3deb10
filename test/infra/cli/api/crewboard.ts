import { apiErrorText } from '../../../../infra/cli/api/api-errors.ts';
import { createApiProgram } from '../../../../infra/cli/api/api-program.ts';
import { type Result, runInProcess } from '../in-process.ts';

/** The variables that a user of the tests may have set. */
const unset = {
  CREWBOARD_URL: undefined,
  CREWBOARD_TOKEN: undefined,
  CREWBOARD_DATA: undefined,
  WEBHOOK_SECRET: undefined,
};

/**
 * Runs a command that calls the API in the process of the test.
 *
 * @param variables the environment of the command, besides that of the test
 */
export function crewboard(args: string[], variables: Record<string, string> = {}): Promise<Result> {
  const program = createApiProgram('Use Crewboard', 'npx crewboard tasks list');
  return runInProcess(program, apiErrorText, args, { ...unset, ...variables });
}
