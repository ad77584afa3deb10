import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../infra/local/gateway.ts';
import { processContext } from '../../lib/context/context.ts';
import { type Scope, scopes } from '../../lib/contract/endpoint.ts';
import { callTool, connect } from '../mcp/mcp-client.ts';
import { newCaller, openService, pointFunctionsAt } from '../service.ts';
import { blocksOf, firstColumnOf, sectionOf } from './markdown.ts';

const page = readFileSync('docs/mcp.md', 'utf8');
const address = 'http://127.0.0.1:3000/mcp?tools=board';

pointFunctionsAt(await openService());
const gateway = await startGateway(0);
afterAll(() => gateway.stop());

/** A server in the configuration of a client; clients have different names for its address. */
type Server = { url?: string; httpUrl?: string; headers: { Authorization: string } };
type Configured = { crewboard: Server };

describe('the page on the MCP server', () => {
  it.each(['### Claude Code', '### Cursor', '### VS Code', '### Gemini CLI'])(
    'has a configuration with the address and a token under %s',
    (heading) => {
      const [block = ''] = blocksOf(sectionOf(page, heading), 'json');
      const { mcpServers, servers } = JSON.parse(block) as Record<string, Configured>;
      const { url, httpUrl, headers } = ((mcpServers ?? servers) as Configured).crewboard;
      expect(url ?? httpUrl).toBe(address);
      expect(headers.Authorization).toMatch(/^Bearer \$/);
    },
  );

  it('names the address in every other configuration', () => {
    for (const heading of ['### Codex CLI', '### Other clients']) expect(sectionOf(page, heading)).toContain(address);
  });

  it('has the error that the server sends', async () => {
    const { token } = await newCaller(processContext());
    const client = await connect({ url: gateway.url, token });
    const { isError, error } = await callTool<{ error: object }>(client, 'create_task', { titel: 't' });
    const [documented = ''] = blocksOf(sectionOf(page, '## Errors'), 'json');
    const id = expect.any(String);
    expect(isError).toBe(true);
    expect(JSON.parse(documented)).toEqual({ error: { ...error, requestId: id } });
  });

  it('names tools and scopes that exist', async () => {
    const { token } = await newCaller(processContext());
    const { tools } = await (await connect({ url: gateway.url, token })).listTools();
    const named = sectionOf(page, '## What an agent gets').match(/(?<=`)[a-z]+_[a-z_]+(?=`)/g) ?? [];
    const names = [...tools.map(({ name }) => name), 'work_on_next_task'];
    expect(named.length).toBeGreaterThan(2);
    expect(names).toEqual(expect.arrayContaining(named));
    const rows = firstColumnOf(sectionOf(page, '## Limit what an agent can do'));
    const listed = rows.flatMap((text) => text.match(/(?<=`)[a-z]+:[a-z]+(?=`)/g) ?? []);
    // Changes of webhooks are not offered as tools.
    const offered: Scope[] = scopes.filter((scope) => scope !== 'webhooks:write');
    expect([...new Set(listed)].sort()).toEqual(offered.toSorted());
  });
});
