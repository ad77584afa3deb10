import { codeOf } from '../../local/problem.ts';

/** What the system says where there is no way to AWS: no name, no network, or nobody who listens. */
const unreachable = [
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
];

/** What a call of AWS failed for, in words that say what to do where this shell is not set up for AWS. */
export function wordsFor(error: unknown): string {
  const { name, message } = error as Error;
  if (name === 'CredentialsProviderError') return 'this shell has no AWS credentials; set AWS_PROFILE, or log in.';
  if (message === 'Region is missing') return 'this shell names no region; set AWS_REGION.';
  const code = codeOf(error) ?? '';
  if (unreachable.includes(code) || name === 'TimeoutError')
    return `AWS cannot be reached from here (${message || code}); look at the network, the region and AWS_ENDPOINT_URL.`;
  return message;
}

/** Whether AWS has refused something, or could not be asked for how this shell is set up. */
export function isOfAws(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return '$metadata' in error || error.name === 'CredentialsProviderError' || error.message === 'Region is missing';
}
