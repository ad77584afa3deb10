/** Prints a result as the API does: the result in `data`, and `pagination` if it is a page of a list. */
export function printJson(
  result: { data: unknown; pagination?: unknown },
  print: (text: string) => void = console.log,
): void {
  print(JSON.stringify(result, null, 2));
}
