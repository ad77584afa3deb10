import type { IncomingMessage } from 'node:http';

/**
 * The status line and the headers of a successful response, by the grammar alone (RFC 9112): no folded header, no line that
 * ends with a line feed alone, no control character, no space before a colon.
 */
const strictHead = /^HTTP\/1\.1 2\d\d [\t\P{Cc}]*\r\n(?:[\w!#$%&'*+.^`|~-]+:[\t\P{Cc}]*\r\n)*\r\n/u;

/**
 * Returns whether the received bytes are one successful response, whose end every parser finds at the same byte, and no byte
 * more. The lenient parser accepts responses of which this is not certain: the next one on their connection could begin at
 * another byte than the receiver means.
 */
export function endsExactly(response: IncomingMessage, received: readonly Buffer[]): boolean {
  const text = Buffer.concat(received).toString('latin1');
  const [head] = strictHead.exec(text) ?? [];
  const { connection: [connection = 'keep-alive', ...others] = [] } = response.headersDistinct;
  if (!head || others.length > 0 || connection.toLowerCase() !== 'keep-alive') return false;
  return endOf(response, text, head.length) === text.length;
}

/** Returns where the body of a response ends, by one length or by chunks; `undefined` if that is not certain. */
function endOf({ headersDistinct, statusCode }: IncomingMessage, text: string, from: number): number | undefined {
  const { 'content-length': lengths = [], 'transfer-encoding': codings = [] } = headersDistinct;
  const framing = [...lengths, ...codings].join();
  if (statusCode === 204) return framing === '' || framing === '0' ? from : undefined;
  if (codings.length > 0) return framing === 'chunked' ? endOfChunks(text, from) : undefined;
  return /^\d{1,5}$/.test(framing) ? from + Number(framing) : undefined;
}

/** Returns the end of chunks that have no extensions and no trailers; `undefined` for others. */
function endOfChunks(text: string, from: number): number | undefined {
  const line = /([\da-f]{1,4})\r\n/iy;
  for (line.lastIndex = from; ; ) {
    const size = Number.parseInt(line.exec(text)?.[1] ?? '', 16);
    const end = line.lastIndex + size;
    if (!text.startsWith('\r\n', end)) return undefined;
    line.lastIndex = end + 2;
    if (size === 0) return line.lastIndex;
  }
}
