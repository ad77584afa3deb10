import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleFunctions, functionSources } from '../../infra/aws/bundle.ts';
import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { hashSecret, mintToken, writeToken } from '../../lib/http/token.ts';
import { eventOf, type Sent } from '../service.ts';

const run = promisify(execFile);

/**
 * What a bundle may weigh, in bytes: a quarter more than the heaviest weighed. Lambda reads all of it in a cold
 * start. Only what posts to receivers carries undici, only what reads skills a YAML parser.
 */
const budgets: Record<string, number> = {
  'functions/agents/assign-skill.ts': 490_000,
  'functions/agents/list-skill-catalogue.ts': 490_000,
  'functions/agents/list-skills.ts': 490_000,
  'functions/pipeline/deliver-webhook.ts': 1_280_000,
  'functions/webhooks/test-webhook.ts': 1_280_000,
};
const budget = 370_000;

/** Loads a bundle and, given an event, calls it; the last line is what it exports or answers. */
const driver = `
const [bundle, event] = process.argv.slice(2);
const exported = await import(bundle);
const context = { awsRequestId: 'r', functionName: 'f', getRemainingTimeInMillis: () => 29_000 };
const answer = event ? await exported.handler(JSON.parse(event), context) : Object.keys(exported);
console.log('\\n' + JSON.stringify(answer));
process.exit();
`;

let folder: string;
let driverFile: string;

beforeAll(async () => {
  // Outside the repository, so that no node_modules is within reach of what was bundled.
  folder = await mkdtemp(join(tmpdir(), 'crewboard-bundles-'));
  driverFile = join(folder, 'driver.mjs');
  await bundleFunctions(join(folder, 'functions'));
  await writeFile(driverFile, driver);
});

const bundleOf = (source: string) => join(folder, 'functions', basename(source, '.ts'), 'index.mjs');

/** Runs a bundle in a Node.js of its own, which knows nothing but what Lambda would tell it. */
async function inLambda(source: string, sent?: Sent, more: Record<string, string> = {}): Promise<unknown> {
  const event = sent ? [JSON.stringify(eventOf(sent))] : [];
  const { stdout } = await run(process.execPath, [driverFile, bundleOf(source), ...event], {
    cwd: folder,
    env: { AWS_REGION: 'eu-central-1', TABLE_NAME: 'table', NODE_OPTIONS: '--enable-source-maps', ...more },
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) as string);
}

type Answer = { statusCode: number; headers: Record<string, string>; body: string };

describe('the bundles', () => {
  it.each(functionSources())('%s loads in a bare Node.js and exports its handler', async (source) => {
    expect(await inLambda(source)).toContain('handler');
  });

  it.each(functionSources())('%s keeps to its budget', async (source) => {
    expect((await stat(bundleOf(source))).size).toBeLessThan(budgets[source] ?? budget);
  });

  it('run on the Node.js that Lambda has', () => {
    expect(process.version).toMatch(/^v24\./);
  });

  it('answer that the service is well', async () => {
    const answer = (await inLambda('functions/open/health.ts', { path: '/health' })) as Answer;
    expect(answer.statusCode).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({ success: true, data: { status: 'ok' } });
  });

  it('refuse a caller without a token in the envelope', async () => {
    const sent: Sent = { method: 'POST', path: '/api/kanban-tasks', body: { title: 'Bundle it' } };
    const answer = (await inLambda('functions/kanban-tasks/create-task.ts', sent)) as Answer;
    expect(answer.statusCode).toBe(401);
    const { success, error } = JSON.parse(answer.body);
    expect(success).toBe(false);
    expect(error.code).toBe('unauthorized');
    expect(answer.headers['X-Request-Id']).toBe(error.requestId);
  });

  it('have the skills beside them, where they read any, and nowhere else', async () => {
    const shipped = await readdir('lib/agents/skills', { recursive: true });
    expect(shipped).toContain(join('code-review', 'SKILL.md'));
    const reading: string[] = [];
    for (const source of functionSources()) {
      const besides = await readdir(dirname(bundleOf(source)), { recursive: true });
      if (besides.includes('skills')) {
        reading.push(source);
        expect(besides).toEqual(expect.arrayContaining(shipped.map((path) => join('skills', path))));
      }
      const reads = (await readFile(bundleOf(source), 'utf8')).includes('These skills cannot be used');
      expect([source, reads]).toEqual([source, besides.includes('skills')]);
    }
    expect(reading).toEqual(
      expect.arrayContaining([
        'functions/agents/assign-skill.ts',
        'functions/agents/list-skill-catalogue.ts',
        'functions/agents/list-skills.ts',
      ]),
    );
  });

  it('answer with the skills that they have beside them', async () => {
    const { id, secret } = mintToken();
    const token = writeToken({ id, secret });
    const record = { hash: hashSecret(secret), organization: 'org', scopes: ['agents:read'], createdAt: '2026-01-01' };
    const table = createServer((_, response) => {
      const Item = marshall({ ...record, id });
      response.setHeader('Content-Type', 'application/x-amz-json-1.0').end(JSON.stringify({ Item }));
    });
    await new Promise<void>((resolve) => table.listen(0, '127.0.0.1', resolve));
    const answer = (await inLambda(
      'functions/agents/list-skill-catalogue.ts',
      { path: '/api/agents/skills', token },
      {
        AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
        AWS_SECRET_ACCESS_KEY: 'example',
        AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(table.address() as AddressInfo).port}`,
      },
    ).finally(() => table.close())) as Answer;
    expect(answer.statusCode).toBe(200);
    const skills = readSkills().map(({ id, name, description }) => ({ id, name, description }));
    expect(JSON.parse(answer.body)).toEqual({ success: true, data: skills });
  });

  it('ask the table with the credentials that Lambda puts into the environment', async () => {
    const heard: { authorization?: string | undefined; session?: unknown }[] = [];
    const table = createServer(({ headers }, response) => {
      heard.push({ authorization: headers.authorization, session: headers['x-amz-security-token'] });
      response.setHeader('Content-Type', 'application/x-amz-json-1.0').end('{}');
    });
    await new Promise<void>((resolve) => table.listen(0, '127.0.0.1', resolve));
    const answer = await inLambda(
      'functions/kanban-tasks/list-tasks.ts',
      { path: '/api/kanban-tasks', token: writeToken(mintToken()) },
      {
        AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
        AWS_SECRET_ACCESS_KEY: 'example',
        AWS_SESSION_TOKEN: 'of this container',
        AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(table.address() as AddressInfo).port}`,
      },
    ).finally(() => table.close());
    expect(answer).toMatchObject({ statusCode: 401 });
    expect(heard).toEqual([
      { authorization: expect.stringContaining('Credential=AKIDEXAMPLE/'), session: 'of this container' },
    ]);
  });
});
