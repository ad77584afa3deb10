import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../lib/contract/errors.ts';
import { isPublicAddress } from '../../../lib/sender/addresses.ts';
import { rejectUrl } from '../../../lib/sender/receivers.ts';
import { readAllowedReceivers } from '../../../lib/settings/allowed-receivers.ts';
import { fc } from '../../seeded.ts';
import { spellingsOf } from './spelled-addresses.ts';

/** The code that a URL is refused with, `undefined` where it may be registered. */
function codeOf(url: string, patterns = ''): string | undefined {
  try {
    rejectUrl(url, readAllowedReceivers(patterns));
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).details.map(({ path }) => path)).toEqual(['url']);
    return (error as ApiError).code;
  }
}

describe('ALLOWED_RECEIVERS', () => {
  it.each([
    ['localhost:*', 'localhost', 1],
    ['localhost:*', 'localhost', 65535],
    ['127.0.0.1:8080', '127.0.0.1', 8080],
    ['[::1]:*', '[::1]', 443],
    ['LocalHost:9000', 'localhost', 9000],
    ['[0:0::1]:*', '[::1]', 443],
    ['[FD00::A]:*', '[fd00::a]', 443],
    ['[::ffff:127.0.0.1]:*', '[::ffff:7f00:1]', 443],
    ['127.1:*', '127.0.0.1', 443],
    ['127.0.0.1.:*', '127.0.0.1', 443],
    ['localhost.:*', 'localhost.', 443],
    ['Bücher.example:*', 'xn--bcher-kva.example', 443],
    ['a.example:1, b.example:2 ,c.example:*', 'b.example', 2],
  ])('%j opens %s at port %i', (patterns, host, port) => {
    expect(readAllowedReceivers(patterns)(host, port)).toBe(true);
  });

  it.each([
    ['', 'localhost', 443],
    [' , ,', 'localhost', 443],
    ['localhost:8080', 'localhost', 8081],
    ['localhost:*', 'localhost.', 443],
    ['localhost.:*', 'localhost', 443],
    ['[::1]:*', '[::2]', 443],
    ['127.0.0.1:*', '[::ffff:7f00:1]', 443],
    ['localhost:*', 'sub.localhost', 443],
    ['localhost:*', '127.0.0.1', 443],
    ['127.0.0.1:*', '127.0.0.10', 443],
    ['example.com:*', 'notexample.com', 443],
  ])('%j opens not %s at port %i', (patterns, host, port) => {
    expect(readAllowedReceivers(patterns)(host, port)).toBe(false);
  });

  it.each([
    ...[
      'localhost',
      ':8080',
      'localhost:http',
      'localhost:65536',
      '[::g]:80',
      '[localhost]:80',
      '*:*',
      '*.example:443',
    ],
    ...[
      'good.example@evil.example:80',
      'good.example/evil.example:80',
      'good.example?:80',
      'good.example#:80',
      'a b:80',
    ],
  ])('%j opens nothing and is named as wrong', (pattern) => {
    for (const patterns of [pattern, `good.example:443,${pattern}`])
      expect(() => readAllowedReceivers(patterns)).toThrow(`ALLOWED_RECEIVERS has ${JSON.stringify(pattern)}`);
  });
});

describe('a receiver that the operator opens', () => {
  it.each([
    ['localhost:*', 'http://localhost:3000/', undefined],
    ['localhost:*', 'https://localhost:3000/', undefined],
    ['localhost:*', 'http://LOCALHOST:1/x?y#z', undefined],
    // Private addresses, however they are spelled.
    ['127.0.0.1:8080', 'http://2130706433:8080/', undefined],
    ['[::1]:*', 'http://[0:0:0:0:0:0:0:1]:8080/', undefined],
    // At its port only.
    ['localhost:3000', 'http://localhost:3001/', 'validation_failed'],
    ['localhost:3000', 'https://localhost:3001/', 'url_not_allowed'],
    ['127.0.0.1:8443', 'https://127.0.0.1/', 'url_not_allowed'],
    // Without a port: 80 for http, 443 for https.
    ['127.0.0.1:80', 'http://127.0.0.1/', undefined],
    ['127.0.0.1:443', 'https://127.0.0.1/', undefined],
    ['127.0.0.1:443', 'http://127.0.0.1/', 'validation_failed'],
    // Neither credentials nor another scheme.
    ['localhost:*', 'http://user:word@localhost:3000/', 'url_not_allowed'],
    ['localhost:*', 'ftp://localhost:21/', 'validation_failed'],
    // Nothing else.
    ['localhost:*', 'http://example.com/', 'validation_failed'],
    ['localhost:*', 'https://10.0.0.1/', 'url_not_allowed'],
  ])('by %s decides about %s: %s', (patterns, url, code) => {
    expect(codeOf(url, patterns)).toBe(code);
  });
});

it.each(['https://example.com/', 'https://localhost/', 'https://localhost./', 'https://metadata.google.internal/'])(
  'a name may be registered, for it is checked when it is dialled: %s',
  (url) => {
    expect(codeOf(url)).toBeUndefined();
  },
);

it('an IPv4 address is judged alike in every spelling that a URL takes', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const hosts = [...spellingsOf(address)].map(([, host]) => host).filter((host) => !host.startsWith('['));
      const codes = [...hosts, `[::ffff:${address}]`].map((host) => codeOf(`https://${host}/`));
      expect(new Set(codes)).toEqual(new Set([isPublicAddress(address) ? undefined : 'url_not_allowed']));
    }),
  );
});
