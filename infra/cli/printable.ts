/**
 * Returns a text in one line. White space, and characters that control a terminal or the direction of the text, become one
 * space: titles and errors can come from anyone.
 */
export function singleLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Bidi_Control}]+/gu, ' ').trim();
}

/** Returns a text of several lines for a terminal, without characters that control it. */
export function multipleLines(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]+/gu, ' ');
}
