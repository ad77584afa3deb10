import { describe, expect, it } from 'vitest';
import { indented } from '../../../../lib/console/components/format/indented.ts';
import { fc } from '../../../seeded.ts';

describe('the indentation of a text', () => {
  it('is that of JSON, and other texts stay as they are', () => {
    expect(indented('{"a":[1,"[{\\"]"]}')).toBe('{\n  "a": [\n    1,\n    "[{\\"]"\n  ]\n}');
    for (const text of ['1', 'a [b]', '[broken', '{"open']) expect(indented(text)).toBe(text);
  });

  it('is the same as that of JavaScript for each value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, '\t'), (value, space) => {
        fc.pre(typeof value === 'object' && value !== null);
        expect(indented(JSON.stringify(value, null, space))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it('changes no number, no string and no order of members', () => {
    const written = '{"b":9007199254740993,"10":[1e400,-0,1.10],"9":"\\u00e9\\/","b":{}}';
    expect(indented(written).replaceAll(/\s/g, '')).toBe(written);
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
