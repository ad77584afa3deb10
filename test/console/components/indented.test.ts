import { describe, expect, it } from 'vitest';
import { indented } from '../../../lib/console/components/indented.ts';

describe('the indentation of a text', () => {
  it('is that of JSON, and other texts stay as they are', () => {
    expect(indented('{"a":[1,"[{\\"]"]}')).toBe('{\n  "a": [\n    1,\n    "[{\\"]"\n  ]\n}');
    for (const text of ['1', 'a [b]', '[broken', '{"open']) expect(indented(text)).toBe(text);
  });

  it('is left out if nesting would multiply the length', () => {
    const deep = '['.repeat(2_000) + ']'.repeat(2_000);
    expect(indented(deep)).toBe(deep);
    const wide = `${'['.repeat(500)}${'0,'.repeat(1_000)}0${']'.repeat(500)}`;
    expect(indented(wide)).toBe(wide);
    // Brackets in strings are not nested.
    const brackets = JSON.stringify({ code: '[{'.repeat(2_000) });
    expect(indented(brackets)).toBe(JSON.stringify(JSON.parse(brackets), null, 2));
  });
});
