import { expect, it } from 'vitest';
import { tokensText } from '../../../../lib/console/components/format/tokens-text.ts';

it('the tokens of an execution say whether they contain estimates, and are absent while it runs', () => {
  expect(tokensText({ tokensUsed: 1_234 })).toBe('1,234');
  expect(tokensText({ tokensUsed: 1_234, tokensEstimated: true })).toBe('about 1,234');
  expect(tokensText({})).toBeUndefined();
});
