/**
 * The maximum nesting depth of a response of a model. The client of Bedrock reads a response by a recursive function, which
 * overflows the stack at about 9,000 levels. Arguments of a call are invalid at far fewer.
 */
const maxDepthOfResponse = 1_000;

/** The maximum number of digits of an exponent. The client writes a large number out, and would take all memory for `1e400000000`. */
const maxExponentDigits = 3;

/**
 * Returns JSON that the client of Bedrock can read: objects and arrays at the maximum depth are empty, and exponents have at
 * most the maximum number of digits. Both only change arguments that are invalid.
 */
export function boundedJson(json: Uint8Array): Uint8Array {
  const bounded = new Uint8Array(json.length);
  let length = 0;
  let depth = 0;
  let inText = false;
  let isEscaped = false;
  /** The digits of the current exponent without leading zeros; `undefined` outside of exponents. */
  let exponentDigits: number | undefined;
  for (const byte of json) {
    const character = String.fromCharCode(byte);
    const opens = !inText && (character === '{' || character === '[');
    const closes = !inText && (character === '}' || character === ']');
    if (opens) depth++;
    if (inText) exponentDigits = undefined;
    else if (character === 'e' || character === 'E') exponentDigits = 0;
    else if (!/[\d+-]/.test(character)) exponentDigits = undefined;
    else if (exponentDigits !== undefined && (exponentDigits > 0 || /[1-9]/.test(character))) exponentDigits++;
    const isShallow = depth < maxDepthOfResponse || (depth === maxDepthOfResponse && (opens || closes));
    if (isShallow && (exponentDigits ?? 0) <= maxExponentDigits) bounded[length++] = byte;
    if (closes) depth--;
    if (character === '"' && !isEscaped) inText = !inText;
    isEscaped = inText && character === '\\' && !isEscaped;
  }
  return length === json.length ? json : bounded.subarray(0, length);
}
