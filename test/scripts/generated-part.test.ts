import { expect, it } from 'vitest';
import { withGeneratedPart } from '../../scripts/generated-part.ts';

const [begin, end] = [
  '// Generated from the contract by `npm run generate`. Change the contract, not these types.',
  '// End of the generated types.',
];

it('the generated part is replaced, and what stands before and after it stays', () => {
  const source = `before;\n\n${begin}\n\ntype Old = 1;\n\n${end}\n\nafter;\n`;
  const replaced = `before;\n\n${begin}\n\ntype New = 2;\n\n${end}\n\nafter;\n`;
  expect(withGeneratedPart(source, 'type New = 2;\n')).toBe(replaced);
  expect(withGeneratedPart(replaced, 'type New = 2;\n')).toBe(replaced);
});

it.each(['', `${begin}\ntype Old = 1;\n`, `type Old = 1;\n${end}\n`])(
  'a source without the part is an error: %j',
  (source) => {
    expect(() => withGeneratedPart(source, 'type New = 2;\n')).toThrow(begin);
  },
);
