/** Returns the number of Unicode code points of a text: the unit of all lengths in the API, and in JSON Schema. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Returns the first `most` code points of a text. */
export function startOf(text: string, most: number): string {
  if (text.length <= most) return text;
  // A code point takes one or two code units.
  return [...text.slice(0, most * 2)].slice(0, most).join('');
}

/** Returns a text, or its first `most` code points with an ellipsis if it has more. */
export function shortened(text: string, most: number): string {
  const start = startOf(text, most);
  return start === text ? text : `${start}…`;
}
