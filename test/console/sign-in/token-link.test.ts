import { describe, expect, it } from 'vitest';
import { tokenLinkIn } from '../../../lib/console/sign-in/token-link.ts';

describe('a link that signs in', () => {
  it('has a token in its fragment, also an encoded one', () => {
    expect(tokenLinkIn('#token=crew_abc123')).toEqual({ token: 'crew_abc123' });
    expect(tokenLinkIn('#token=crew%5Fabc123')).toEqual({ token: 'crew_abc123' });
  });

  it.each([
    '',
    '=',
    '=%',
    '=%E0%A4%A',
    '=%00',
    '=two words',
    '=word',
    '=crew_a&b=c',
    '=crew_a\n',
    `=crew_${'a'.repeat(1_000)}`,
  ])('says that there is none in #token%s', (rest) => {
    expect(tokenLinkIn(`#token${rest}`)).toEqual({ problem: expect.stringContaining('no access token') });
  });

  it.each(['', '#', '#/', '#/board?project=token', '#/token=crew_a', '#tokens=crew_a', '#%'])(
    'is not what %s is',
    (fragment) => {
      expect(tokenLinkIn(fragment)).toBeUndefined();
    },
  );
});
