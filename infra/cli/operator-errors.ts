import { ApiError } from '../../lib/contract/errors.ts';
import { awsErrorMessage, isAwsError } from '../aws/deployed/aws-errors.ts';
import { Problem } from '../problem.ts';

/** Returns the message of an error that operators can correct; `undefined` for any other error. */
export function operatorErrorText(thrown: unknown): string | undefined {
  // If the table cannot be reached, the cause of the API error says what an operator can correct.
  const error = thrown instanceof ApiError && isAwsError(thrown.cause) ? thrown.cause : thrown;
  if (error instanceof Problem || error instanceof ApiError) return error.message;
  return isAwsError(error) ? `AWS: ${awsErrorMessage(error)}` : undefined;
}
