import type { ExecutionListItem } from '../../../client/operations.ts';

/** Returns the tokens of an execution, such as `1,234`, or `about 1,234` if they contain estimates; nothing before its end. */
export function tokensText({
  tokensUsed,
  tokensEstimated,
}: Pick<ExecutionListItem, 'tokensUsed' | 'tokensEstimated'>): string | undefined {
  const tokens = tokensUsed?.toLocaleString('en');
  return tokens !== undefined && tokensEstimated ? `about ${tokens}` : tokens;
}
