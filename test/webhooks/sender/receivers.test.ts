import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../lib/contract/errors.ts';
import { isPublicAddress } from '../../../lib/webhooks/sender/addresses.ts';
import { readAllowedReceivers } from '../../../lib/webhooks/sender/allowed-receivers.ts';
import { rejectUrl } from '../../../lib/webhooks/sender/receivers.ts';
import { fc } from '../../seeded.ts';

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
  ])('%s opens %s at port %i', (patterns, host, port) => {
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
    'localhost',
    ':8080',
    'localhost:',
    'localhost:http',
    'localhost:123456',
    'localhost:65536',
    'http://localhost:80',
    '::1:80',
    '[::1]',
    '[::g]:80',
    '[::1%lo]:80',
    '[localhost]:80',
    'good.example@evil.example:80',
    'good.example/evil.example:80',
    'good.example?:80',
    'good.example#:80',
    '*:*',
    '*.example:443',
    '256.0.0.1:80',
    'a b:80',
    'good.example:443,bad',
  ])('%j opens nothing and is said to be wrong', (patterns) => {
    expect(() => readAllowedReceivers(patterns)).toThrow('ALLOWED_RECEIVERS');
  });

  it('names the pattern that is wrong', () => {
    expect(() => readAllowedReceivers('good.example:443,bad')).toThrow('"bad"');
  });
});

describe('a receiver that the operator opens', () => {
  it.each(['http://localhost:3000/', 'https://localhost:3000/', 'http://localhost/', 'http://LOCALHOST:1/x?y#z'])(
    'may be %s',
    (url) => {
      expect(codeOf(url, 'localhost:*')).toBeUndefined();
    },
  );

  it('may be a private address, however it is spelled', () => {
    expect(codeOf('http://2130706433:8080/', '127.0.0.1:8080')).toBeUndefined();
    expect(codeOf('http://[0:0:0:0:0:0:0:1]:8080/', '[::1]:8080')).toBeUndefined();
  });

  it('is opened at its port only', () => {
    expect(codeOf('http://localhost:3001/', 'localhost:3000')).toBe('validation_failed');
    expect(codeOf('https://localhost:3001/', 'localhost:3000')).toBe('url_not_allowed');
    expect(codeOf('https://127.0.0.1/', '127.0.0.1:8443')).toBe('url_not_allowed');
  });

  it('is meant at port 80 by an http URL without one, at 443 by an https URL', () => {
    expect(codeOf('http://127.0.0.1/', '127.0.0.1:80')).toBeUndefined();
    expect(codeOf('https://127.0.0.1/', '127.0.0.1:443')).toBeUndefined();
    expect(codeOf('http://127.0.0.1/', '127.0.0.1:443')).toBe('validation_failed');
  });

  it('may have no credentials all the same', () => {
    expect(codeOf('http://user:word@localhost:3000/', 'localhost:*')).toBe('url_not_allowed');
  });

  it('may be of no other scheme', () => {
    expect(codeOf('ftp://localhost:21/', 'localhost:*')).toBe('validation_failed');
  });

  it('opens nothing for others', () => {
    expect(codeOf('http://example.com/', 'localhost:*')).toBe('validation_failed');
    expect(codeOf('https://10.0.0.1/', 'localhost:*')).toBe('url_not_allowed');
  });
});

describe('a name', () => {
  it.each(['https://example.com/', 'https://localhost/', 'https://localhost./', 'https://metadata.google.internal/'])(
    'may be registered, for it is checked when it is dialled: %s',
    (url) => {
      expect(codeOf(url)).toBeUndefined();
    },
  );
});

describe('an IPv4 address', () => {
  it('is judged alike in every spelling that a URL takes', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const number = ((a * 256 + b) * 256 + c) * 256 + d;
        const spellings = [
          address,
          `${address}.`,
          `${number}`,
          `0x${number.toString(16)}`,
          `0${number.toString(8)}`,
          [a, b, c, d].map((part) => `0x${part.toString(16)}`).join('.'),
          [a, b, c, d].map((part) => `0${part.toString(8)}`).join('.'),
          `${a}.${(b * 256 + c) * 256 + d}`,
          `${a}.${b}.${c * 256 + d}`,
          `[::ffff:${address}]`,
        ];
        const codes = spellings.map((host) => codeOf(`https://${host}/`));
        const code = isPublicAddress(address) ? undefined : 'url_not_allowed';
        expect(codes).toEqual(spellings.map(() => code));
      }),
    );
  });
});
