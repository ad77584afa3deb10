import { Client, StreamableHTTPClientTransport, type VersionNegotiationOptions } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';

/** The revisions of the protocol that are tested, each with what makes a client use it. */
export const revisions: readonly (readonly [string, VersionNegotiationOptions])[] = [
  ['2026-07-28', { mode: { pin: '2026-07-28' } }],
  ['2025-11-25', { mode: 'legacy' }],
];

/** Connects a client of the SDK to a service for the time of a test. */
export async function connect(
  { url, token, query = '' }: { url: string; token: string; query?: string },
  versionNegotiation: VersionNegotiationOptions = { mode: 'auto' },
  more: Record<string, string> = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation });
  const headers = { Authorization: `Bearer ${token}`, ...more };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), { requestInit: { headers } });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}

/** The result of a tool: its parsed text, and whether it is an error. */
export type Called<Value> = Value & { isError: boolean };

/** Calls a tool and returns its result. */
export async function callTool<Value = Record<string, never>>(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Called<Value>> {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const [first] = content;
  if (first?.type !== 'text') throw new Error(`The result has no text: ${JSON.stringify(content)}`);
  return { ...(JSON.parse(first.text) as Value), isError };
}

/** A message of revision 2025-11-25 without a client, as a request to `POST /mcp`. The id null stands for a notification. */
export const messageOf = (method: string, params: object = {}, id: number | null = 1) => ({
  method: 'POST',
  path: '/mcp',
  headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
  body: { jsonrpc: '2.0', ...(id !== null && { id }), method, params },
});
