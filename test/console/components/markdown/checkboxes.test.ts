import { describe, expect, it } from 'vitest';
import { type Checkbox, checkboxesOf, withCheckbox } from '../../../../lib/console/components/markdown/checkboxes.ts';
import { readMarkdown } from '../../../../lib/console/components/markdown/markdown-tokens.ts';

const boxesIn = (text: string): Checkbox[] => [...checkboxesOf(readMarkdown(text).tokens ?? []).values()];

const text = `# Steps\r\n
\`\`\`
- [ ] code
\`\`\`

    - [ ] code too

- [ ] one **bold**
- [x] two
  - [ ] below two
  - no checkbox, but [ ] brackets
- [ ] one **bold**

1. [X] a loose item

   with a paragraph

2. [ ] another

> - [ ] quoted
>   1) [x] below

- - [ ] deep
[ ] no item
- [ ]
`;

describe('the checkboxes of a Markdown text', () => {
  it('are those of items, in the order of the text', () => {
    expect(boxesIn(text)).toEqual([
      { item: 'one **bold**', nth: 0, isChecked: false },
      { item: 'two', nth: 0, isChecked: true },
      { item: 'below two', nth: 0, isChecked: false },
      { item: 'one **bold**', nth: 1, isChecked: false },
      { item: 'a loose item', nth: 0, isChecked: true },
      { item: 'another', nth: 0, isChecked: false },
      { item: 'quoted', nth: 0, isChecked: false },
      { item: 'below', nth: 0, isChecked: true },
      { item: 'deep', nth: 0, isChecked: false },
    ]);
  });

  it('are changed one at a time, and nothing else with them', () => {
    for (const [at, box] of boxesIn(text).entries()) {
      const changed = withCheckbox(text, { ...box, isChecked: !box.isChecked }) ?? expect.fail('not found');
      expect(changed).toHaveLength(text.length);
      expect([...changed].filter((character, place) => character !== text[place])).toEqual([box.isChecked ? ' ' : 'x']);
      expect(boxesIn(changed)).toEqual(boxesIn(text).with(at, { ...box, isChecked: !box.isChecked }));
    }
  });

  it('are found again by their items in a text that was changed', () => {
    const other = '- [ ] new\n- [ ] two\n- [x] one';
    expect(withCheckbox(other, { item: 'two', nth: 0, isChecked: true })).toBe('- [ ] new\n- [x] two\n- [x] one');
    expect(withCheckbox(other, { item: 'one', nth: 0, isChecked: true })).toBe(other);
    expect(withCheckbox(other, { item: 'one', nth: 1, isChecked: true })).toBeUndefined();
    expect(withCheckbox(other, { item: 'three', nth: 0, isChecked: true })).toBeUndefined();
  });

  it('are told from many brackets in code before them', () => {
    const many = `\`\`\`\n${'- [ ] code\n'.repeat(800)}\`\`\`\n\n- [ ] last`;
    expect(withCheckbox(many, { item: 'last', nth: 0, isChecked: true })).toBe(many.replace('[ ] last', '[x] last'));
  });
});
