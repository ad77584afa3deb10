import { expect, it } from 'vitest';
import { errorOf, paginationOf } from '../api.ts';
import { sendRequest } from '../api-over-http.ts';
import { messageOf } from '../mcp/mcp-client.ts';
import { createDeployedOrganization, headerOf } from './deployed.ts';

/** Defines the test of the MCP server: its function has the rights of the operations that it offers. */
export function testMcp(): void {
  it('tools read and change tasks, with the access token of the API', async () => {
    const { api, url, token } = await createDeployedOrganization('mcp');
    const callTool = (name: string, args: object) =>
      sendRequest(url, { ...messageOf('tools/call', { name, arguments: args }), token });
    const created = await callTool('create_task', { title: 'Draw it' });
    expect([created.status, JSON.stringify(created.body)]).toEqual([200, expect.stringContaining('Draw it')]);
    expect(created.body.result).not.toHaveProperty('isError');
    expect(paginationOf(await api.listTasks()).total).toBe(1);
    const listed = await callTool('list_tasks', {});
    expect(JSON.stringify(listed.body)).toContain('Draw it');
    const started = await callTool('execute_agent', { name: 'qa-reviewer', input: 'What makes a task easy to judge?' });
    expect(JSON.stringify(started.body)).toContain('running');

    const rejected = await sendRequest(url, { ...messageOf('tools/list'), token: '' });
    const seen = [rejected.status, headerOf(rejected, 'WWW-Authenticate'), errorOf(rejected).code];
    expect(seen).toEqual([401, 'Bearer', 'unauthorized']);
    expect((await sendRequest(url, { method: 'GET', path: '/mcp', token })).status).toBe(405);
  });
}
