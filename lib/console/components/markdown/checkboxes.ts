import type { Token } from 'marked';
import { readMarkdown } from './markdown-tokens.ts';

/** A checkbox of a Markdown text. It is found again by its item in a text that was changed elsewhere. */
export type Checkbox = {
  /** The first line of its item. */
  item: string;
  /** How many items with the same first line are before it. */
  nth: number;
  isChecked: boolean;
};

/** Returns the checkboxes of a text by their tokens, in the order of the text. */
export function checkboxesOf(tokens: readonly Token[]): Map<Token, Checkbox> {
  const boxes = new Map<Token, Checkbox>();
  const counts = new Map<string, number>();
  const collect = (some: readonly Token[], item: string): void => {
    for (const token of some) {
      if (token.type === 'list')
        for (const { text, tokens } of token.items) collect(tokens, String(text).split('\n', 1)[0] as string);
      else if (token.type === 'checkbox') {
        const nth = counts.get(item) ?? 0;
        counts.set(item, nth + 1);
        boxes.set(token, { item, nth, isChecked: token.checked });
      } else if ('tokens' in token) collect(token.tokens ?? [], item);
    }
  };
  collect(tokens, '');
  return boxes;
}

/** What can be a checkbox: at the start of a line, or after the signs of lists and quotes. In code it is none. */
const candidates = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*\[[ xX]\](?=\s)/gm;

/** Returns a text in which a checkbox has the state `isChecked`; `undefined` if the text does not have the checkbox. */
export function withCheckbox(text: string, box: Checkbox): string | undefined {
  const before = checkboxIn(text, box);
  if (!before || before.isChecked === box.isChecked) return before && text;
  /** Changes the checkboxes from one candidate to another. */
  const changed = (from: number, to: number) => {
    let at = -1;
    return text.replaceAll(candidates, (start) => {
      at++;
      if (at < from || at >= to) return start;
      return `${start.slice(0, -3)}${start.endsWith('[ ]') ? '[x]' : '[ ]'}`;
    });
  };
  // The candidate that changes the checkbox, by halves: each step reads the text as Markdown.
  let [low, high] = [0, text.match(candidates)?.length ?? 0];
  while (high - low > 1) {
    const middle = Math.ceil((low + high) / 2);
    if (checkboxIn(changed(0, middle), box)?.isChecked === box.isChecked) high = middle;
    else low = middle;
  }
  const result = changed(low, high);
  return checkboxIn(result, box)?.isChecked === box.isChecked ? result : undefined;
}

function checkboxIn(text: string, { item, nth }: Checkbox): Checkbox | undefined {
  const boxes = checkboxesOf(readMarkdown(text).tokens ?? []);
  return [...boxes.values()].find((one) => one.item === item && one.nth === nth);
}
