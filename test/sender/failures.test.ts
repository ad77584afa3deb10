import { describe, expect, it } from 'vitest';
import { NotHttp } from '../../lib/sender/connection.ts';
import { sentenceFor } from '../../lib/sender/failures.ts';
import { Forbidden } from '../../lib/sender/lookup.ts';
import { fc } from '../seeded.ts';

/** Creates an error as Node.js does, whose message contains internal names. */
const failure = (code: unknown, message = `connect ${code} 10.0.0.1:8443 at /var/task/index.mjs:1`) =>
  Object.assign(new Error(message), { code });

/** Returns codes that have the same sentence. */
const codes = (sentence: string, ...all: string[]) => all.map((code) => [code, sentence]);

describe('a failure to get an answer', () => {
  it.each([
    ...codes('The name of the receiver could not be resolved.', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL'),
    ...codes('The receiver could not be reached.', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'),
    ...codes('The connection failed: the receiver broke it off.', 'ECONNRESET', 'EPIPE'),
    ['ECONNREFUSED', 'The receiver refused the connection.'],
    ['ETIMEDOUT', 'The receiver could not be reached in time.'],
    ['CERT_HAS_EXPIRED', 'The certificate of the receiver has expired.'],
    ['CERT_NOT_YET_VALID', 'The certificate of the receiver is not valid yet.'],
    ['CERT_REVOKED', "The receiver's TLS failed: CERT_REVOKED."],
    ['EPROTO', "The receiver's TLS failed: EPROTO."],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'The receiver speaks no TLS on this port.'],
    ['INVALID_PURPOSE', 'The certificate of the receiver is not for servers.'],
    ['ERR_SSL_NO_CIPHER_MATCH', "The receiver's TLS failed: ERR_SSL_NO_CIPHER_MATCH."],
    ['HPE_INVALID_CONSTANT', 'What the receiver answered is not HTTP.'],
    ['HPE_HEADER_OVERFLOW', 'The headers of the answer are over 64 KiB.'],
    ['EMFILE', 'The connection failed: EMFILE.'],
  ])('with %s has a sentence', (code, sentence) => {
    expect(sentenceFor(failure(code))).toBe(sentence);
    expect(sentenceFor(Object.assign(new AggregateError([failure('EPERM')]), { code }))).toBe(sentence);
  });

  it('that a guard caused says why nothing was sent', () => {
    expect(sentenceFor(new Forbidden('it is private'))).toBe('Not sent: it is private.');
  });

  it.each([
    ['without a code', new Error('ENOENT: /var/task/index.mjs')],
    ['with a number', failure(42)],
    ['with a code that is a text', failure('/var/task/index.mjs')],
    ['with a code without an end', failure('E'.repeat(1_000))],
    ['of a name that is a property of every object', failure('constructor')],
    ['that is no error', 'connect 10.0.0.1:8443'],
    ['that is nothing', undefined],
  ])('%s has a sentence too', (_, error) => {
    expect(sentenceFor(error)).toBe('The connection failed.');
  });

  it('never quotes a message, and is short', () => {
    const message = 'GET /var/task/index.mjs from 10.0.0.1';
    const code = fc.oneof(fc.string(), fc.stringMatching(/^[A-Z_]{1,80}$/), fc.stringMatching(/^HPE_[A-Z_]{1,80}$/));
    fc.assert(
      fc.property(code, fc.constantFrom(Error, TypeError, NotHttp), (code, Kind) => {
        const sentence = sentenceFor(Object.assign(new Kind(message), { code }));
        expect(sentence).toMatch(/^[A-Z][^\n]{1,118}\.$/);
        expect(sentence).not.toMatch(/\/|10\.0|index|\n/);
      }),
    );
  });
});
