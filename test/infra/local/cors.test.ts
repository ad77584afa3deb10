import { afterAll, describe, expect, it } from 'vitest';
import { isAllowedHost, readCorsOrigins } from '../../../infra/local/cors.ts';
import { startGateway } from '../../../infra/local/gateway.ts';
import { Problem } from '../../../infra/problem.ts';

describe('CORS_ORIGINS', () => {
  it.each([
    ['http://localhost:*', 'http://localhost:5173', true],
    ['http://localhost:*', 'http://localhost', true],
    ['http://localhost:*', 'https://localhost:5173', false],
    ['http://localhost:*', 'http://localhost.example.com:5173', false],
    ['http://localhost:5173, https://board.example.com', 'https://board.example.com', true],
    ['http://localhost:5173', 'http://localhost:5174', false],
    ['*', 'https://anywhere.example.com', true],
    ['', 'http://localhost:5173', false],
    ['http://localhost:*', 'null', false],
  ])('%j and the origin %s: %s', (text, origin, allowed) => {
    expect(readCorsOrigins(text)(origin)).toBe(allowed);
  });

  it.each(['localhost:*', 'http://localhost/', 'http://*.example.com', 'ftp://localhost'])('rejects %j', (text) => {
    expect(() => readCorsOrigins(text)).toThrow(Problem);
  });
});

describe('the host of a request', () => {
  it.each([
    ['127.0.0.1:3000', true],
    ['172.17.0.1:3000', true],
    ['[::1]:3000', true],
    ['localhost:8080', true],
    ['LOCALHOST', true],
    ['board.localhost:3000', true],
    ['page.example.com:3000', false],
    ['localhost.example.com:3000', false],
    ['notlocalhost', false],
    ['127.0.0.1.example.com:3000', false],
    ['', false],
    // Browsers always send one.
    [undefined, true],
  ])('%j is allowed without any allowed origin: %s', (host, allowed) => {
    expect(isAllowedHost(host, readCorsOrigins(''))).toBe(allowed);
  });

  it.each([
    ['http://host.docker.internal:*', 'host.docker.internal:3000', true],
    ['https://board.example.com', 'Board.example.com', true],
    ['https://board.example.com', 'board.example.com:3000', false],
    ['*', 'page.example.com:3000', true],
  ])('with the allowed origin %s, %s is allowed: %s', (origins, host, allowed) => {
    expect(isAllowedHost(host, readCorsOrigins(origins))).toBe(allowed);
  });
});

describe('a web page', async () => {
  const gateway = await startGateway(0, readCorsOrigins('http://localhost:*'));
  afterAll(() => gateway.stop());
  const preflight = (origin: string) =>
    fetch(`${gateway.url}/api/kanban-tasks`, {
      method: 'OPTIONS',
      headers: { Origin: origin, 'Access-Control-Request-Method': 'PATCH' },
    });

  it('of an allowed origin may send requests with a token and read the headers of responses', async () => {
    const allowed = await preflight('http://localhost:5173');
    expect(allowed.status).toBe(204);
    expect(Object.fromEntries(allowed.headers)).toMatchObject({
      'access-control-allow-origin': 'http://localhost:5173',
      'access-control-allow-methods': 'GET,POST,PATCH,DELETE',
      'access-control-allow-headers':
        'Authorization,Content-Type,Idempotency-Key,If-Match,MCP-Protocol-Version,Mcp-Method,Mcp-Name',
      vary: 'Origin',
    });
    const { headers } = await fetch(`${gateway.url}/health`, { headers: { Origin: 'http://localhost:5173' } });
    expect(headers.get('access-control-allow-origin')).toBe('http://localhost:5173');
    expect(headers.get('access-control-expose-headers')).toContain('ETag');
  });

  it('of another origin gets no CORS header', async () => {
    const Origin = 'https://elsewhere.example.com';
    const answers = [await preflight(Origin), await fetch(`${gateway.url}/health`, { headers: { Origin } })];
    for (const { headers } of answers) expect(headers.has('access-control-allow-origin')).toBe(false);
  });
});
