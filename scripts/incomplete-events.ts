import * as v from 'valibot';

const fields = ['when', 'data', 'example', 'comesFrom'];

/**
 * Returns an error message for each field that the row of an event does not have, and for each example that is not of the
 * row's schema. The types say the same; this says it before files are generated from the rows.
 *
 * @param rows the rows of all events by their names
 */
export function incompleteEvents(rows: Readonly<Record<string, object>>): string[] {
  return Object.entries(rows).flatMap(([name, row]) => {
    const missing = fields.filter((field) => (row as Record<string, unknown>)[field] === undefined);
    if (missing.length > 0)
      return missing.map(
        (field) => `The event ${name} has no \`${field}\`; add it to its row in lib/contract/webhooks/events.ts.`,
      );
    const { data, example } = row as { data: v.GenericSchema; example: unknown };
    const { issues } = v.safeParse(data, example);
    return (issues ?? []).map(
      (issue) => `The example of ${name} does not fit its schema: ${v.getDotPath(issue) ?? ''} ${issue.message}`,
    );
  });
}
