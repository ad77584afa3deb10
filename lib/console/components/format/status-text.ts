/** Returns a status of the API as words in a sentence, such as `in progress` or `QA review`. */
export function statusText(status: string): string {
  return status.replaceAll('_', ' ').replace(/^qa\b/, 'QA');
}
