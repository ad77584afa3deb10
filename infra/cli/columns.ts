import stringWidth from 'string-width';

/** How a table fits a terminal: its width, if it is known, and the column that is shortened. */
export type Fit = { width: number | undefined; flexible: number };

/** The width that is left to a shortened column in a very narrow terminal. */
const leastFlexibleWidth = 10;

/** Splits a text into what readers see as characters, so that none is cut in two. */
const characters = new Intl.Segmenter();

/**
 * Returns rows of fields as text, each column as wide as its widest field. The first row is the heading. If `fit` is set and
 * the rows are wider than the terminal, the fields of one column are shortened. If that does not suffice, columns are left out,
 * the last one first, but neither the first one, which has the ids, nor the shortened one.
 */
export function columns(rows: readonly (readonly string[])[], fit?: Fit): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => stringWidth(row[at] ?? '')))) ?? [];
  const shown = fit?.width === undefined ? [...widths.keys()] : fitted(widths, fit.flexible, fit.width);
  return rows
    .map((row) =>
      shown
        .map((at) => padded(shortened(row[at] ?? '', widths[at] ?? 0), widths[at] ?? 0))
        .join(gap)
        .trimEnd(),
    )
    .join('\n');
}

/** Returns the columns that fit a terminal, and sets the width of the flexible one. */
function fitted(widths: number[], flexible: number, width: number): number[] {
  const shown = [...widths.keys()];
  const excess = () => shown.reduce((sum, at) => sum + (widths[at] ?? 0) + gap.length, -gap.length) - width;
  const least = Math.min(widths[flexible] ?? 0, leastFlexibleWidth);
  const others = shown.filter((at) => at > 0 && at !== flexible);
  while (excess() > (widths[flexible] ?? 0) - least && others.length > 0)
    shown.splice(shown.indexOf(others.pop() ?? 0), 1);
  widths[flexible] = Math.max((widths[flexible] ?? 0) - Math.max(excess(), 0), least);
  return shown;
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
