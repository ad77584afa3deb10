import { describe, expect, it } from 'vitest';
import { contextOf, textOfContext } from '../../../../lib/console/screens/agents/context-text.ts';
import { fc } from '../../../seeded.ts';

describe('the text of a context', () => {
  it('is read as the object that it was, with the order of its keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (written) => {
        const context = JSON.parse(JSON.stringify(written)) as Record<string, unknown>;
        const read = contextOf(textOfContext(context));
        const isLarge = /not JSON|beyond/.test(read.problem ?? '');
        expect(isLarge || JSON.stringify(read) === JSON.stringify({ context })).toBe(true);
      }),
    );
  });

  it('is no context if it is blank', () => {
    expect(textOfContext(undefined)).toBe('');
    for (const text of ['', ' \n']) expect(contextOf(text)).toEqual({});
    expect(contextOf('{}')).toEqual({ context: {} });
  });

  it('that is no JSON object has a problem that says so', () => {
    for (const text of ['[1]', 'null', '"a"', '1'])
      expect(contextOf(text)).toEqual({ problem: 'Write a JSON object, such as {"audience": "new developers"}.' });
    for (const text of ['{', 'a: 1', '{"a":1,}']) expect(contextOf(text).problem).toMatch(/^This is not JSON: ./);
  });

  it('with a number that JavaScript changes has a problem, also deep inside', () => {
    for (const number of ['9007199254740993', '-1e21', '1e999'])
      expect(contextOf(`{"a":[{"b":${number}}]}`).problem).toMatch(/^Write numbers beyond/);
    expect(contextOf('{"a":9007199254740991,"b":1.5e-7}')).toEqual({ context: { a: 9007199254740991, b: 1.5e-7 } });
  });
});
