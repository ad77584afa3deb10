import { CustomChart, type CustomSeriesOption, LineChart, type LineSeriesOption } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

/** A figure at a place of the x axis; of several runs their median, with the least and the greatest. */
type Point = { x: number; y: number; least?: number; greatest?: number };

/** A line of a panel, and the points on it. */
export type Series = { name: string; points: readonly Point[] };

/** Lines over one another, with the unit of what they show. All panels of a plot have lines of the same names. */
type Panel = { title: string; series: readonly Series[] };

/** Panels side by side over axes of the same `x`, a logarithmic one. */
export type Plot = {
  /** The name of its file, without the ending. */
  name: string;
  /** The alternative text. */
  alt: string;
  x: string;
  panels: readonly Panel[];
};

use([LineChart, CustomChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

/** Sizes in pixels. */
const size = { panel: 430, height: 330, left: 56, right: 36, top: 56, bottom: 92, whisker: 4 };

/** Colours that people with colour blindness can distinguish. */
const colors = ['#0072b2', '#d55e00', '#009e73', '#cc79a7'];

const ink = '#24292f';
const faint = '#d8dee4';

/** Returns a plot as SVG. Equal figures give equal text. It has its own background, so it is readable on any page. */
export function svgOf({ x, panels }: Plot): string {
  const chart = init(null, null, {
    renderer: 'svg',
    ssr: true,
    width: panels.length * size.panel,
    height: size.height,
  });
  try {
    chart.setOption({
      animation: false,
      backgroundColor: '#ffffff',
      textStyle: { fontFamily: 'sans-serif', color: ink },
      legend: { bottom: 8, textStyle: { color: ink }, data: panels[0]?.series.map(({ name }) => name) },
      title: panels.map(({ title }, at) => ({
        text: title,
        left: at * size.panel + 16,
        top: 12,
        textStyle: { fontSize: 14, color: ink },
      })),
      grid: panels.map((_, at) => ({
        left: at * size.panel + size.left,
        width: size.panel - size.left - size.right,
        top: size.top,
        bottom: size.bottom,
      })),
      xAxis: panels.map((panel, gridIndex) => ({
        ...axis,
        gridIndex,
        type: 'log',
        name: x,
        nameLocation: 'middle',
        nameGap: 30,
        ...rangeOf(panel),
      })),
      yAxis: panels.map((_, gridIndex) => ({ ...axis, gridIndex, type: 'value', min: 0 })),
      series: panels.flatMap(({ series }, at) =>
        series.flatMap((one, nth) => [lineOf(one, at, nth), rangesOf(one, at, nth)]),
      ),
    });
    return `${renamed(chart.renderToSVGString())}\n`;
  } finally {
    chart.dispose();
  }
}

/** The names that the renderer gives count on from plot to plot; here they count from the first in each. */
function renamed(svg: string): string {
  const names = new Map<string, string>();
  return svg.replaceAll(/\bzr\d+-[\w-]+/g, (name) => {
    names.set(name, names.get(name) ?? `n${names.size}`);
    return names.get(name) as string;
  });
}

const axis = {
  axisLabel: { color: ink, formatter: (value: number) => value.toLocaleString('en') },
  axisLine: { show: true, lineStyle: { color: ink } },
  splitLine: { lineStyle: { color: faint } },
  nameTextStyle: { color: ink },
};

/** The axis begins and ends with the figures. */
function rangeOf({ series }: Panel): { min: number; max: number } {
  const all = series.flatMap(({ points }) => points.map(({ x }) => x));
  return { min: Math.min(...all), max: Math.max(...all) };
}

const colorOf = (nth: number) => colors[nth % colors.length] as string;

function lineOf({ name, points }: Series, panel: number, nth: number): LineSeriesOption {
  return {
    type: 'line',
    name,
    xAxisIndex: panel,
    yAxisIndex: panel,
    symbol: nth % 2 === 0 ? 'circle' : 'rect',
    symbolSize: 7,
    color: colorOf(nth),
    data: points.map(({ x, y }) => [x, y]),
  };
}

/** From the least to the greatest at each point, with a short bar at either end. */
function rangesOf({ points }: Series, panel: number, nth: number): CustomSeriesOption {
  return {
    type: 'custom',
    xAxisIndex: panel,
    yAxisIndex: panel,
    data: points.map(({ x, y, least = y, greatest = y }) => [x, least, greatest]),
    encode: { x: 0, y: [1, 2] },
    silent: true,
    renderItem: (_, api) => {
      const [x = 0, low = 0] = api.coord([api.value(0), api.value(1)]);
      const [, high = 0] = api.coord([api.value(0), api.value(2)]);
      const bars = [low, high].map((y) => `M${x - size.whisker},${y}h${2 * size.whisker}`);
      const style = { stroke: colorOf(nth), fill: 'none' };
      return { type: 'path', shape: { pathData: `M${x},${low}V${high}${bars.join('')}` }, style };
    },
  };
}
