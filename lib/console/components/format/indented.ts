/** The most white space that is added to a text, in characters. A few kilobytes can be nested thousands of levels deep. */
const mostWhiteSpace = 1_000_000;

/** The parts of a JSON text: strings, the characters that structure it, numbers and words. */
const partsOfJson = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g;

/**
 * Returns a JSON object or array with line breaks, and any other text as it is, also JSON that is nested too deep. Only white
 * space changes: numbers keep all their digits, and members their order.
 */
export function indented(text: string): string {
  return !isJson(text) || whiteSpaceOf(text) > mostWhiteSpace ? text : withLineBreaks(text);
}

/** Returns whether a text is a JSON object or array. */
export function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function withLineBreaks(json: string): string {
  let shown = '';
  let depth = 0;
  let before = '';
  for (const [part] of json.matchAll(partsOfJson)) {
    const isFirst = before === '[' || before === '{';
    const closes = part === ']' || part === '}';
    if (closes) depth--;
    if (closes ? !isFirst : isFirst || before === ',') shown += `\n${'  '.repeat(depth)}`;
    shown += part === ':' ? ': ' : part;
    if (part === '[' || part === '{') depth++;
    before = part;
  }
  return shown;
}

/** Returns how much white space indentation adds to a valid JSON text: each bracket and comma is followed by a line break. */
function whiteSpaceOf(json: string): number {
  let depth = 0;
  let added = 0;
  for (const [part] of json.matchAll(partsOfJson)) {
    if (!/^[[\]{},]/.test(part)) continue;
    if (part === '[' || part === '{') depth++;
    if (part === ']' || part === '}') depth--;
    added += 1 + 2 * depth;
  }
  return added;
}
