/** Returns the prefix of an id and its last characters, which are random. */
export function shortId(id: string): string {
  return `${id.slice(0, id.indexOf('_'))}…${id.slice(-6)}`;
}
