import { expect, it } from 'vitest';
import { startOf } from '../../../lib/contract/texts/code-points.ts';

it.each(['', 'abc', '😀', '😀😀😀', 'a😀b😀c', '😀a😀a😀a', 'ab\ud83d'])(
  'the start of %j is its first code points, and none of them is cut',
  (text) => {
    for (let most = 0; most <= 7; most++) expect(startOf(text, most)).toBe([...text].slice(0, most).join(''));
  },
);
