import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { negotiateContent } from '../../lib/http/content-negotiation.ts';
import { eventOf } from '../service.ts';

const text = 'a script: “ü”';
const gzipped = gzipSync(text);

/** What is answered to a request with these headers. */
function answered(headers: Record<string, string>, content: string | Uint8Array = gzipped, etag = 'W/"one"') {
  const own = { 'X-Own': 'kept', ...(etag && { ETag: etag }) };
  return negotiateContent(eventOf({ headers }), { statusCode: 200, headers: own }, content);
}

it.each([
  'gzip',
  'GZIP',
  'br, gzip',
  'gzip, deflate, br, zstd',
  'gzip;q=0.1',
  'gzip ; q=1.0',
  'x-gzip',
  '*',
  '*;q=0.5',
])('answers a file gzipped where %s is taken', (accepted) => {
  expect(answered({ 'Accept-Encoding': accepted })).toEqual({
    statusCode: 200,
    headers: { 'X-Own': 'kept', ETag: 'W/"one"', Vary: 'Accept-Encoding', 'Content-Encoding': 'gzip' },
    body: gzipped.toString('base64'),
    isBase64Encoded: true,
  });
});

it.each(['', 'identity', 'br', 'gzip;q=0', 'gzip; q=0.000', '*;q=0', 'gzip;q=0, *', 'gzippy'])(
  'answers a file as it was where only %j is taken',
  (accepted) => {
    expect(answered({ 'Accept-Encoding': accepted })).toEqual({
      statusCode: 200,
      headers: { 'X-Own': 'kept', ETag: 'W/"one"', Vary: 'Accept-Encoding' },
      body: text,
    });
  },
);

it('answers a file as it was where nothing is said of encodings', () => {
  expect(answered({}).body).toBe(text);
});

it.each(['W/"one"', '"one"', '"two", W/"one"', '"two","one"', '*'])('answers 304 to who has %s', (tag) => {
  for (const content of [gzipped, text]) {
    const { statusCode, headers, body } = answered({ 'If-None-Match': tag, 'Accept-Encoding': 'gzip' }, content);
    expect([statusCode, body]).toEqual([304, undefined]);
    expect(headers).toMatchObject({ 'X-Own': 'kept', ETag: 'W/"one"' });
    expect(headers).not.toHaveProperty('Content-Encoding');
  }
});

it.each(['W/"two"', 'one', '"one', ''])('answers all of it to who has %j', (tag) => {
  expect(answered({ 'If-None-Match': tag }).statusCode).toBe(200);
});

it('answers a text as it is, and 304 for nothing that has no ETag', () => {
  const answer = answered({ 'If-None-Match': '*', 'Accept-Encoding': 'gzip' }, text, '');
  expect(answer).toEqual({ statusCode: 200, headers: { 'X-Own': 'kept' }, body: text });
});
