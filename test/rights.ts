/**
 * Returns whether one of the patterns of a policy covers an action or an ARN. `*` and `?` in the value itself count as
 * characters, so a pattern covers all that the value can mean.
 */
export function isCovered(value: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const source = pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.');
    return new RegExp(`^${source}$`, pattern.startsWith('arn:') ? '' : 'i').test(value);
  });
}
