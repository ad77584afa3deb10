import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import type { DailyMetrics } from '../../../client/operations.ts';

/** A series of a chart: a value for each day, or `null` on a day without one. */
export type Series = {
  label: string;
  /** The token of the colour. */
  color: `--${string}`;
  read: (day: DailyMetrics) => number | null;
  format: (value: number) => string;
};

type Props = { title: string; shape: 'bars' | 'lines'; series: readonly Series[]; days: readonly DailyMetrics[] };

/**
 * A chart of a value for each UTC day, with its numbers as a table for those who cannot see it. If at most one day has
 * values, they are shown as numbers: a chart would have one bar.
 */
export function DailyChart(props: Props) {
  const filled = props.days.filter((day) => props.series.some(({ read }) => read(day)));
  return filled.length > 1 ? <Chart {...props} /> : <SingleDay {...props} day={filled[0]} />;
}

function SingleDay({ title, series, day }: Omit<Props, 'days'> & { day: DailyMetrics | undefined }) {
  return (
    <figure className="panel chart">
      <figcaption>
        <h3>{title}</h3>
        <span className="muted chart-day">{day ? `only on ${dateText(day.date)}` : 'none'}</span>
      </figcaption>
      {day && (
        <dl className="single-day">
          {series.map((one) => (
            <div key={one.label}>
              <dt>{one.label}</dt>
              <dd>{valueText(one, day)}</dd>
            </div>
          ))}
        </dl>
      )}
    </figure>
  );
}

function Chart({ title, shape, series, days }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number>();
  const theme = useThemeChanges();

  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the theme changes the colours of the page
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const options = optionsOf(element, shape, series, setPointed);
    const plot = new uPlot({ ...options, ...sizeOf(element) }, dataOf(series, days), element);
    const observer = new ResizeObserver(() => plot.setSize(sizeOf(element)));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [shape, series, days, theme]);

  const day = pointed === undefined ? undefined : days[pointed];
  return (
    <figure className="panel chart">
      <figcaption>
        <h3>{title}</h3>
        <span className="muted chart-day">{day && dateText(day.date)}</span>
        {series.map((one) => (
          <span key={one.label} className="chart-key">
            <i style={{ background: `var(${one.color})` }} />
            {one.label}
            {day && <strong>{valueText(one, day)}</strong>}
          </span>
        ))}
      </figcaption>
      <div ref={host} className="chart-plot" role="img" aria-label={`${title}; the numbers are in the table below`} />
      <details className="chart-numbers">
        <summary>Show the numbers of {title.toLowerCase()}</summary>
        <Numbers title={title} series={series} days={days} />
      </details>
    </figure>
  );
}

function Numbers({ title, series, days }: Pick<Props, 'title' | 'series' | 'days'>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls the table
    <section className="table" aria-label={`The numbers of ${title.toLowerCase()}`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>Day (UTC)</th>
            {series.map(({ label }) => (
              <th key={label} className="number">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((day) => (
            <tr key={day.date}>
              <td>{dateText(day.date)}</td>
              {series.map((one) => (
                <td key={one.label} className="number">
                  {valueText(one, day)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function valueText({ read, format }: Series, day: DailyMetrics): string {
  const value = read(day);
  return value === null ? '–' : format(value);
}

const dates = new Intl.DateTimeFormat('en', { timeZone: 'UTC', day: 'numeric', month: 'short' });
const dateText = (date: string) => dates.format(Date.parse(date));

function dataOf(series: readonly Series[], days: readonly DailyMetrics[]): uPlot.AlignedData {
  return [days.map(({ date }) => Date.parse(date) / 1000), ...series.map(({ read }) => days.map(read))];
}

/** The height of a plot with its axis, in pixels. */
const height = 160;
const sizeOf = (element: HTMLElement) => ({ width: element.clientWidth, height });

/** Returns the colour of a token as the element shows it now: a canvas takes no variables. */
function colorIn(element: HTMLElement, token: string): string {
  element.style.color = `var(${token})`;
  const { color } = getComputedStyle(element);
  element.style.removeProperty('color');
  return color;
}

/** Returns the options of a plot in an element, with the colours that the page has now. */
function optionsOf(
  element: HTMLElement,
  shape: Props['shape'],
  series: readonly Series[],
  point: (at: number | undefined) => void,
): Omit<uPlot.Options, 'width' | 'height'> {
  const color = (token: string) => colorIn(element, token);
  const font = `11px ${getComputedStyle(element).fontFamily}`;
  const axis = { stroke: color('--text-muted'), font, ticks: { show: false } };
  const format = series[0]?.format ?? String;
  const paths = shape === 'bars' ? uPlot.paths.bars?.({ size: [0.7, 24], radius: 0.15 }) : uPlot.paths.linear?.();
  return {
    // Days are those of UTC.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: shape === 'lines' } },
    scales: {
      // Half a day more on both sides makes room for the bars.
      x: { range: (_, from, to) => [from - 43_200, to + 43_200] },
      y: { range: (_, __, highest) => [0, Math.max(highest, 1) * 1.1] },
    },
    axes: [
      {
        ...axis,
        size: 24,
        grid: { show: false },
        space: 60,
        incrs: [1, 2, 7, 14, 30].map((days) => days * 86_400),
        values: (_, seconds) => seconds.map((one) => dates.format(one * 1000)),
      },
      {
        ...axis,
        // As wide as its longest mark.
        size: (_, marks) => 20 + 6 * Math.max(0, ...(marks ?? []).map(({ length }) => length)),
        space: 24,
        grid: { stroke: color('--border'), width: 1 },
        incrs: [1, 2, 5]
          .flatMap((one) => Array.from({ length: 12 }, (_, zeros) => one * 10 ** zeros))
          .sort((a, b) => a - b),
        // Marks are round, so they need no decimals.
        values: (_, values) => values.map((value) => (value === 0 ? '0' : format(value).replace('.0 ', ' '))),
      },
    ],
    series: [
      {},
      ...series.map(({ label, color: token }) => ({
        label,
        stroke: color(token),
        width: shape === 'bars' ? 0 : 1.5,
        ...(shape === 'bars' && { fill: color(token) }),
        ...(paths && { paths }),
        points: { show: shape === 'lines', size: 5, fill: color(token) },
      })),
    ],
    hooks: { setCursor: [({ cursor }) => point(cursor.idx ?? undefined)] },
  };
}

/** Returns a number that changes with the theme of the page or of the device. */
function useThemeChanges(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const changed = () => setChanges((count) => count + 1);
    const observer = new MutationObserver(changed);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const device = matchMedia('(prefers-color-scheme: dark)');
    device.addEventListener('change', changed);
    return () => {
      observer.disconnect();
      device.removeEventListener('change', changed);
    };
  }, []);
  return changes;
}
