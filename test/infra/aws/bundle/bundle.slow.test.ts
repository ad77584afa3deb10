import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Metafile } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { functionSources } from '../../../../infra/aws/bundle.ts';
import { readErrors, replacedFiles } from '../../../../infra/aws/bundle-sdk.ts';
import { readSkills } from '../../../../lib/agents/skill-catalogue.ts';
import { hashSecret, mintToken, writeToken } from '../../../../lib/http/token.ts';
import { toolOf } from '../../../../lib/tools/tool-definitions.ts';
import { messageOf } from '../../../mcp/mcp-client.ts';
import { eventOf } from '../../../service.ts';
import { queueEvent } from '../../../workers/queue-event.ts';
import { type Answer, bundleAll } from './bundles.ts';
import { importCpuRatios } from './import-cpu.ts';

/** The AWS clients of functions that have other clients than the client of DynamoDB; of the open functions only `health` has one. */
const clients: Record<string, string[]> = {
  'functions/agents/self-improve-agent.ts': ['dynamodb', 'bedrock-runtime'],
  'functions/deployment/check-functions.ts': ['lambda'],
  'functions/open/health.ts': ['dynamodb'],
  'functions/pipeline/deliver-webhook.ts': ['dynamodb', 'kms', 'sqs'],
  'functions/pipeline/publish-events.ts': ['dynamodb', 'sqs'],
  'functions/pipeline/run-execution.ts': ['dynamodb', 'bedrock-runtime', 'sqs'],
  'functions/pipeline/sweep-overdue.ts': ['dynamodb', 'sqs'],
  'functions/webhooks/register-webhook.ts': ['dynamodb', 'kms'],
  'functions/webhooks/rotate-webhook-secret.ts': ['dynamodb', 'kms'],
  'functions/webhooks/test-webhook.ts': ['dynamodb', 'kms'],
};

/**
 * The budget of CPU time of an import, as a ratio to the bare DynamoDB client: the ratio that docs/cold-starts.md allows,
 * and 0.13 more, because a measurement differs by up to 0.1 from the next on a busy machine. It is lower for API functions, because a
 * caller waits for their start. The function of MCP has the SDK of the protocol and all operations that it offers
 * (docs/decisions/21-the-mcp-server-uses-the-official-sdk.md). One function with each set of clients is measured: a test holds
 * which clients each function has.
 */
function importBudget(source: string): number {
  if (source === mcp) return 1.73;
  if (source === 'functions/pipeline/run-execution.ts') return 1.08;
  return source.startsWith('functions/pipeline/') ? 1 : 0.93;
}
const mcp = 'functions/mcp/mcp.ts';
const measured = [
  'functions/kanban-tasks/create-task.ts',
  mcp,
  'functions/agents/self-improve-agent.ts',
  'functions/pipeline/deliver-webhook.ts',
  'functions/pipeline/run-execution.ts',
  'functions/webhooks/test-webhook.ts',
];

const { folder, bundleOf, weights, called, overTable } = await bundleAll();

describe('the bundles', () => {
  it.each(functionSources())('%s loads in a bare Node.js and exports its handler', async (source) => {
    expect(await called(source)).toContain('handler');
  });

  it.each(functionSources())('%s contains exactly the AWS clients that it needs', (source) => {
    const carried = [...(weights.get(source)?.keys() ?? [])].filter((origin) => origin.startsWith('@aws-sdk/client-'));
    const usual = source.startsWith('functions/open/') ? [] : ['dynamodb'];
    const needed = clients[source] ?? usual;
    expect(carried.sort()).toEqual(needed.map((name) => `@aws-sdk/client-${name}`).sort());
  });

  it('stay within the budget of CPU time of an import', async () => {
    const ratios = await importCpuRatios(folder, measured.map(bundleOf));
    const imports = measured.map((source, at) => ({ source, ratio: ratios[at] as number }));
    expect(imports.filter(({ source, ratio }) => ratio > importBudget(source))).toEqual([]);
  });

  it('have a median size of 278 KB at most', async () => {
    const sizes = await Promise.all(functionSources().map(async (source) => (await stat(bundleOf(source))).size));
    expect(sizes.sort((a, b) => a - b)[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(278_000);
  });

  it('have a stub for each file of the SDK that they replace, and no error that nobody reads', async () => {
    const { inputs } = JSON.parse(await readFile(join(folder, 'functions', 'meta.json'), 'utf8')) as Metafile;
    const bundledFiles = Object.keys(inputs);
    for (const end of Object.keys(replacedFiles))
      expect(bundledFiles.filter((file) => file.endsWith(`@smithy/core/dist-es/${end}`))).toHaveLength(1);
    const text = await readFile(bundleOf('functions/pipeline/deliver-webhook.ts'), 'utf8');
    const unread = ['BackupInUseException', 'CustomKeyStoreNotFoundException', 'QueueDoesNotExist'];
    expect([...unread, ...readErrors].filter((name) => text.includes(`"${name}"`))).toEqual(readErrors);
  });

  it('run on the Node.js that Lambda has', () => {
    expect(process.version).toMatch(/^v24\./);
  });

  it('contain all skills if they need them, and otherwise none', async () => {
    const shipped = readSkills();
    expect(shipped.map(({ name }) => name)).toContain('code-review');
    const having: string[] = [];
    for (const source of functionSources()) {
      const text = await readFile(bundleOf(source), 'utf8');
      const found = shipped.filter(({ description }) => text.includes(description)).length;
      if (found > 0) having.push(source);
      expect([0, shipped.length]).toContain(found);
    }
    const agents = ['assign-skill', 'list-skills', 'self-improve-agent'];
    const needing = [
      ...agents.map((name) => `functions/agents/${name}.ts`),
      mcp,
      'functions/pipeline/run-execution.ts',
    ];
    expect(having.sort()).toEqual(needing);
  });

  it('contain the tools as data, without the words of other endpoints, if they offer tools', async () => {
    const { description } = toolOf('createTask');
    const having: string[] = [];
    for (const source of functionSources())
      if ((await readFile(bundleOf(source), 'utf8')).includes(description)) having.push(source);
    expect(having).toContain(mcp);
    expect([...(weights.get(mcp)?.keys() ?? [])]).not.toContain('lib/openapi');
  });

  it('answer a client of MCP', async () => {
    const { id, secret } = mintToken();
    const record = { hash: hashSecret(secret), organization: 'org', scopes: ['tasks:read'], createdAt: '2026-01-01' };
    const event = eventOf({ ...messageOf('tools/list'), token: writeToken({ id, secret }) });
    const { answered } = await overTable(mcp, event, { Item: marshall({ ...record, id }) });
    const { tools } = JSON.parse((answered as Answer).body).result;
    expect(tools.map(({ name }: { name: string }) => name)).toEqual([
      'list_tasks',
      'count_tasks',
      'get_task',
      'get_me',
      'list_comments',
      'get_task_history',
      'list_ready_tasks',
      'search_tasks',
    ]);
  });

  it('have the renderer beside the function that serves it only', async () => {
    const having: string[] = [];
    for (const source of functionSources())
      if ((await readdir(dirname(bundleOf(source)))).includes('scalar')) having.push(source);
    expect(having).toEqual(['functions/open/docs.ts']);
  });

  it.each(['', 'gzip'])('serve the renderer with Accept-Encoding %j, below the limit of Lambda', async (takes) => {
    const headers = { 'Accept-Encoding': takes };
    const answer = await called('functions/open/docs.ts', eventOf({ path: '/docs/script.js', headers }));
    const { body, isBase64Encoded } = answer as { body: string; isBase64Encoded?: boolean };
    const sent = isBase64Encoded ? gunzipSync(Buffer.from(body, 'base64')).toString() : body;
    expect(sent).toBe(gunzipSync(await readFile('lib/http/docs/scalar/standalone.js.gz')).toString());
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(5_000_000);
  });

  it('do not change an execution that has ended', async () => {
    const message = { organization: 'org', executionId: 'ex_01K00000000000000000000000' };
    const event = queueEvent([JSON.stringify(message)]);
    const failed = { __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException' };
    const { answered, asked } = await overTable('functions/pipeline/run-execution.ts', event, failed, 400);
    expect(answered).toEqual({ batchItemFailures: [] });
    expect(asked.map(({ action }) => action)).toEqual(['UpdateItem']);
  });

  it('answer with their skills', async () => {
    const { id, secret } = mintToken();
    const record = { hash: hashSecret(secret), organization: 'org', scopes: ['agents:read'], createdAt: '2026-01-01' };
    const event = eventOf({ path: '/api/agents/skills', token: writeToken({ id, secret }) });
    const table = { Item: marshall({ ...record, id }) };
    const { answered } = await overTable('functions/agents/list-skills.ts', event, table);
    const skills = readSkills().map(({ id, name, description }) => ({ id, name, description }));
    expect(JSON.parse((answered as Answer).body)).toEqual({ success: true, data: skills });
  });

  it('call the table with the credentials in the environment of Lambda', async () => {
    const event = eventOf({ path: '/api/kanban-tasks', token: writeToken(mintToken()) });
    const { answered, asked } = await overTable('functions/kanban-tasks/list-tasks.ts', event, {});
    expect(answered).toMatchObject({ statusCode: 401 });
    const authorization = expect.stringContaining('Credential=AKIDEXAMPLE/');
    expect(asked).toEqual([{ action: 'GetItem', authorization, session: 'of this container' }]);
  });
});
