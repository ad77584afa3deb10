import { codeOf } from '../../problem.ts';

/** The codes of system errors if AWS cannot be reached: no DNS, no network or no listening server. */
const unreachable = [
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
];

/** Returns the message of a failed call of AWS. If the shell is not configured for AWS, it says what to configure. */
export function awsErrorMessage(error: unknown): string {
  const { name, message } = error as Error;
  if (name === 'CredentialsProviderError') return 'this shell has no AWS credentials; set AWS_PROFILE, or log in.';
  if (message === 'Region is missing') return 'this shell has no AWS region; set AWS_REGION.';
  const code = codeOf(error) ?? '';
  if (unreachable.includes(code) || name === 'TimeoutError')
    return `AWS cannot be reached (${message || code}); check the network, the region and AWS_ENDPOINT_URL.`;
  return message;
}

/** Returns whether an error is an error response of AWS, or is caused by the configuration of this shell for AWS. */
export function isAwsError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return '$metadata' in error || error.name === 'CredentialsProviderError' || error.message === 'Region is missing';
}
