/**
 * Prints a result as the API does: the result in `data`, and `pagination` if it is a page of a list. Characters that
 * control a terminal are escaped: texts can come from anyone. `JSON.stringify` escapes only those below U+0020.
 */
export function printJson(
  result: { data: unknown; pagination?: unknown },
  print: (text: string) => void = console.log,
): void {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  print(JSON.stringify(result, null, 2).replaceAll(/(?!\n)[\p{Cc}\p{Bidi_Control}]/gu, escaped));
}
