/** The most white space that is added to a text, in characters. A few kilobytes can be nested thousands of levels deep. */
const mostWhiteSpace = 1_000_000;

/** Returns a JSON object or array with line breaks, and any other text as it is, also JSON that is nested too deep. */
export function indented(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return whiteSpaceOf(text) > mostWhiteSpace ? text : JSON.stringify(value, null, 2);
  } catch {
    return text;
  }
}

/** Returns how much white space indentation adds to a valid JSON text: each bracket and comma is followed by a line break. */
function whiteSpaceOf(json: string): number {
  let depth = 0;
  let added = 0;
  for (const [part] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
    if (part.startsWith('"')) continue;
    if (part === '[' || part === '{') depth++;
    if (part === ']' || part === '}') depth--;
    added += 1 + 2 * depth;
  }
  return added;
}
