import stringWidth from 'string-width';

/** How a table fits a terminal: its width, if it is known, and the column that is shortened. */
export type Fit = { width: number | undefined; flexible: number };

/** The width that is left to a shortened column in a very narrow terminal. */
const leastFlexibleWidth = 10;

/** Splits a text into what readers see as characters, so that none is cut in two. */
const characters = new Intl.Segmenter();

/**
 * Returns rows of fields as text, each column as wide as its widest field. The first row is the heading. If `fit` is set and
 * the rows are wider than the terminal, the fields of one column are shortened.
 */
export function columns(rows: readonly (readonly string[])[], fit?: Fit): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => stringWidth(row[at] ?? '')))) ?? [];
  if (fit?.width !== undefined) {
    const excess = widths.reduce((sum, width) => sum + width + gap.length, -gap.length) - fit.width;
    const flexible = widths[fit.flexible] ?? 0;
    if (excess > 0) widths[fit.flexible] = Math.max(flexible - excess, Math.min(flexible, leastFlexibleWidth));
  }
  return rows
    .map((row) =>
      row
        .map((field, at) => padded(shortened(field, widths[at] ?? 0), widths[at] ?? 0))
        .join(gap)
        .trimEnd(),
    )
    .join('\n');
}

/** The space between two columns. */
const gap = '  ';

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(width - stringWidth(text), 0));
}

/** Returns a text that fits a width, with `…` at its end if it is too long. */
function shortened(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  for (const { segment } of characters.segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Returns labels and values as lines. Further lines of a value are indented. Rows without a value are left out. */
export function labelled(rows: readonly (readonly [label: string, value: string | undefined])[]): string {
  const width = Math.max(...rows.map(([label]) => label.length)) + gap.length;
  return rows
    .flatMap(([label, value]) =>
      value ? [label.padEnd(width) + value.replaceAll('\n', `\n${' '.repeat(width)}`)] : [],
    )
    .join('\n');
}
