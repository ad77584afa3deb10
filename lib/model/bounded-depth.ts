/**
 * The maximum nesting depth of a response of a model. The client of Bedrock reads a response by a recursive function, which
 * overflows the stack at about 9,000 levels. Arguments of a call are invalid at far fewer.
 */
const maxResponseDepth = 1_000;

/** Returns JSON whose objects and arrays at the maximum depth are empty, so that it can be read by recursive functions. */
export function withBoundedDepth(json: Uint8Array): Uint8Array {
  const bounded = new Uint8Array(json.length);
  let length = 0;
  let depth = 0;
  let inText = false;
  let isEscaped = false;
  for (const byte of json) {
    const opens = !inText && (byte === code('{') || byte === code('['));
    const closes = !inText && (byte === code('}') || byte === code(']'));
    if (opens) depth++;
    if (depth < maxResponseDepth || (depth === maxResponseDepth && (opens || closes))) bounded[length++] = byte;
    if (closes) depth--;
    if (byte === code('"') && !isEscaped) inText = !inText;
    isEscaped = inText && byte === code('\\') && !isEscaped;
  }
  return length === json.length ? json : bounded.subarray(0, length);
}

const code = (character: string) => character.charCodeAt(0);
