/**
 * Returns a text for the page in which each character that controls a terminal, or the direction of the text, is U+FFFD:
 * the text can come from anyone. Line breaks and tabs stay.
 */
export function printable(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd');
}
