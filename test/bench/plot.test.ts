import { expect, it } from 'vitest';
import { type Plot, svgOf } from './plot.ts';

const plot: Plot = {
  name: 'lists',
  alt: 'Time against size',
  x: 'tasks',
  panels: [
    {
      title: 'ms a page',
      series: [
        { name: 'first', points: [100, 1_000].map((x) => ({ x, y: x / 50, least: x / 100, greatest: x / 25 })) },
        { name: 'last', points: [100, 1_000].map((x) => ({ x, y: x / 20 })) },
      ],
    },
  ],
};

it('draws each line by its name, the axis and the title, on a ground of its own', () => {
  const svg = svgOf(plot);
  expect(svg).toMatch(/^<svg [^>]*xmlns=/);
  for (const text of ['ms a page', 'first', 'last', 'tasks', '1,000']) expect(svg).toContain(`>${text}</text>`);
  expect(svg).toContain('fill="#ffffff"');
});

it('draws the same for the same figures, and something else for others', () => {
  expect(svgOf(plot)).toBe(svgOf(structuredClone(plot)));
  const [panel] = plot.panels;
  const others = { ...plot, panels: [{ title: 'ms a page', series: panel?.series.slice(0, 1) ?? [] }] };
  expect(svgOf(others)).not.toBe(svgOf(plot));
});
