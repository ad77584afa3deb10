/** The number of characters of an input that head an execution. */
const mostCharacters = 100;

/**
 * Returns what an execution is about, in one line: the title of its task, else the start of its input; `undefined` if the input
 * begins with more blank characters than a list returns.
 */
export function runSubject({
  taskTitle,
  input,
}: {
  taskTitle?: string | undefined;
  input: string;
}): string | undefined {
  const line = (taskTitle ?? input).replaceAll(/\s+/g, ' ').trim();
  const characters = [...line];
  if (taskTitle !== undefined || characters.length <= mostCharacters) return line || undefined;
  return `${characters
    .slice(0, mostCharacters - 1)
    .join('')
    .trimEnd()}…`;
}
