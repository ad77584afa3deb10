import { expect, it } from 'vitest';
import { readAllowedOrigins } from '../../lib/settings/cors.ts';

it.each([
  ['https://board.example.com', 'https://board.example.com', true],
  ['https://board.example.com', 'https://board.example.com:8443', false],
  ['https://board.example.com', 'https://board.example.com.evil.example', false],
  ['http://localhost:*', 'http://localhost:6274', true],
  ['https://*', 'https://anywhere.example.com', true],
  ['https://*', 'http://anywhere.example.com', false],
  ['*', 'null', true],
  ['https://*', 'null', false],
  ['', 'https://board.example.com', false],
])('of the allowed origins %j the origin %s is allowed: %s', (text, origin, allowed) => {
  expect(readAllowedOrigins(text)(origin)).toBe(allowed);
});
