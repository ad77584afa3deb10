import { describe, expect, it } from 'vitest';
import { markdownLimits, readMarkdown } from '../../../../lib/console/components/markdown/markdown-tokens.ts';

/** A quote that loses a level with each line. Marked reads the lines of a level again for the level above it. */
const fallingQuotes = (levels: number) =>
  `${Array.from({ length: levels }, (_, at) => `${'> '.repeat(levels - at)}a\n`).join('')}b\n`;

const wideTable = (columns: number, rows: number) =>
  `${'a|'.repeat(columns)}a\n${'-|'.repeat(columns)}-\n${'b\n'.repeat(rows)}`;

describe('the reading of Markdown', () => {
  it.each([
    [
      'headings, formats and code',
      '# Goal\n\nDo **this** with `code`, and [read](https://example.com).\n\n'.repeat(80),
    ],
    ['a list of tasks', '- [ ] one\n  - **two**\n'.repeat(300)],
    ['a table', `|a|b|c|\n|-|-|-|\n${'| one | two | three |\n'.repeat(400)}`],
    ['quotes in quotes', fallingQuotes(5)],
    ['a long paragraph', 'Some words with *stress* and a_snake_name, '.repeat(200)],
  ])('accepts a description with %s', (_, text) => {
    expect(text.length).toBeLessThanOrEqual(10_000);
    expect(readMarkdown(text).tokens).toBeDefined();
  });

  it.each([
    ['a table whose short rows have as many columns as its header', wideTable(1_500, 1_900), 'texts'],
    ['such a table in a list', `- ${wideTable(1_500, 1_900)}`, 'texts'],
    ['quotes that lose a level with each line', fallingQuotes(19), 'texts'],
    ['more quotes than levels', '>'.repeat(9_000), 'depth'],
    ['more lists than levels', `${'- '.repeat(4_000)}end`, 'depth'],
    ['more formats than levels', `${'*a '.repeat(30)}${'b* '.repeat(30)}`, 'depth'],
    ['formats that do not end', '_a(#*a'.repeat(1_600), 'searched'],
    ['words before an address', `${'a.'.repeat(4_900)}@`, 'given'],
    ['a list of many items', '- a\n'.repeat(2_400), 'parts'],
    [
      'references that repeat a long target',
      `[a]: https://example.com/${'x'.repeat(7_000)}\n\n${'[a] '.repeat(500)}`,
      'targets',
    ],
  ] as const)('stops at the limit of %s', (_, text, limit) => {
    expect(text.length).toBeLessThanOrEqual(10_000);
    const { tokens, counts } = readMarkdown(text);
    expect(tokens).toBeUndefined();
    expect(counts[limit]).toBeGreaterThan(markdownLimits[limit]);
    // Nothing is done beyond the step that exceeds the limit.
    expect(counts[limit]).toBeLessThanOrEqual(markdownLimits[limit] + text.length);
    for (const [name, count] of Object.entries(counts))
      if (name !== limit) expect(count).toBeLessThanOrEqual(markdownLimits[name as keyof typeof counts]);
  });

  it('does not begin with a text that is longer than any description', () => {
    const { tokens, counts } = readMarkdown('a'.repeat(markdownLimits.length + 1));
    expect(tokens).toBeUndefined();
    expect(counts.given).toBe(0);
    // A character can take two code units.
    expect(readMarkdown('😀'.repeat(10_000)).tokens).toBeDefined();
  });
});
