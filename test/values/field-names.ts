/** The names of the fields of a value and of all in it, as `data.task.id`. */
export function fieldNames(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, inner]) => fieldNames(inner, path === '' ? name : `${path}.${name}`));
}
