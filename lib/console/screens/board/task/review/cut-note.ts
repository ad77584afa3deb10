/**
 * Returns what is said of an output whose end is left out; `undefined` if it is complete.
 *
 * @param length the length of the whole output, in characters
 */
export function cutNote(output = '', length: number): string | undefined {
  const shown = [...output].length;
  if (shown >= length) return undefined;
  return `The first ${shown.toLocaleString('en')} of ${length.toLocaleString('en')} characters. The run has all of them.`;
}
