import { labelled } from '../columns.ts';
import { printJson } from '../json.ts';
import { multipleLines } from '../printable.ts';

/** Prints an item: as JSON, or as a line for each label with a value. */
export function printDetail(
  data: unknown,
  rows: readonly (readonly [label: string, value: string | undefined])[],
  { json }: { json?: true | undefined },
): void {
  if (json) printJson({ data });
  else console.log(labelled(rows.map(([label, value]) => [label, value && multipleLines(value).trim()])));
}
