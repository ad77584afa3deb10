import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { negotiateContent } from '../../../lib/http/middleware/content-negotiation.ts';
import { eventOf } from '../../service.ts';

const text = 'a script: “ü”';
const gzipped = gzipSync(text);

function respond(headers: Record<string, string>, content: string | Uint8Array = gzipped, etag = 'W/"one"') {
  const own = { 'X-Own': 'kept', ...(etag && { ETag: etag }) };
  return negotiateContent(eventOf({ headers }), { statusCode: 200, headers: own }, content);
}

it.each([
  ...['gzip', 'GZIP', 'br, gzip', 'gzip, deflate, br, zstd', 'gzip;q=0.1', 'gzip ; q=1.0', 'x-gzip', '*', '*;q=0.5'],
])('sends bytes gzipped with Accept-Encoding: %s', (accepted) => {
  expect(respond({ 'Accept-Encoding': accepted })).toEqual({
    statusCode: 200,
    headers: { 'X-Own': 'kept', ETag: 'W/"one"', Vary: 'Accept-Encoding', 'Content-Encoding': 'gzip' },
    body: gzipped.toString('base64'),
    isBase64Encoded: true,
  });
});

it.each([undefined, '', 'identity', 'br', 'gzip;q=0', 'gzip; q=0.000', '*;q=0', 'gzip;q=0, *', 'gzippy'])(
  'sends bytes unzipped with Accept-Encoding %j',
  (accepted) => {
    expect(respond(accepted === undefined ? {} : { 'Accept-Encoding': accepted })).toEqual({
      statusCode: 200,
      headers: { 'X-Own': 'kept', ETag: 'W/"one"', Vary: 'Accept-Encoding' },
      body: text,
    });
  },
);

it.each(['W/"one"', '"one"', '"two", W/"one"', '"two","one"', '*'])('sends 304 with If-None-Match: %s', (tag) => {
  for (const content of [gzipped, text]) {
    const { statusCode, headers, body } = respond({ 'If-None-Match': tag, 'Accept-Encoding': 'gzip' }, content);
    expect([statusCode, body]).toEqual([304, undefined]);
    expect(headers).toMatchObject({ 'X-Own': 'kept', ETag: 'W/"one"' });
    expect(headers).not.toHaveProperty('Content-Encoding');
  }
});

it.each(['W/"two"', 'one', '"one', ''])('sends the whole response with If-None-Match %j', (tag) => {
  expect(respond({ 'If-None-Match': tag }).statusCode).toBe(200);
});

it('sends a string unchanged, and never 304 without an ETag', () => {
  const response = respond({ 'If-None-Match': '*', 'Accept-Encoding': 'gzip' }, text, '');
  expect(response).toEqual({ statusCode: 200, headers: { 'X-Own': 'kept' }, body: text });
});
