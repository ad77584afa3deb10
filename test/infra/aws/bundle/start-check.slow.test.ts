import type { IncomingMessage, ServerResponse } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { functionSources } from '../../../../infra/aws/bundle.ts';
import { constructIdOf } from '../../../../infra/aws/functions/service-function.ts';
import { settingSchemas } from '../../../../infra/aws/settings.ts';
import { operationOf, startLoopbackServer } from '../../../servers/loopback.ts';
import { openService } from '../../../service.ts';
import { startTableServer } from '../../../table/fixtures/table-server.ts';
import { boundsOf } from '../any-settings.ts';
import { synthesized } from '../synthesized.ts';
import { bundleAll } from './bundles.ts';

const checker = 'functions/deployment/check-functions.ts';

const { called } = await bundleAll();
const { table, tableName } = await openService();
const dynamodb = await startTableServer(table);

const serve = async (answer: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>) => {
  const server = await startLoopbackServer((request, response) => void answer(request, response));
  afterAll(server.close);
  return server.url;
};

/** A KMS whose key encrypts a text as itself. */
const kms = await serve(async (request, response) => {
  const { Plaintext, CiphertextBlob } = (await json(request)) as Record<string, string>;
  const done = operationOf(request) === 'Encrypt' ? { CiphertextBlob: Plaintext } : { Plaintext: CiphertextBlob };
  response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.1' }).end(JSON.stringify(done));
});

/** What Lambda sets itself. */
const ofLambda = {
  ...{ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'example', AWS_SESSION_TOKEN: 'session' },
  ...{ AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint, AWS_ENDPOINT_URL_KMS: kms },
};

/** The settings with all numbers at their lowest or highest value. */
const atBounds = (bound: 'least' | 'most') =>
  Object.fromEntries(
    Object.entries(settingSchemas).flatMap(([name, schema]) => {
      const { [bound]: value } = boundsOf(schema) ?? {};
      if (value === undefined || name === 'logRetentionDays') return [];
      return [[name, name === 'retryLadder' ? [value, value, value] : value]];
    }),
  );

const { functionOf } = synthesized();
const idOf = (source: string) =>
  constructIdOf(
    (source.split('/').at(-1) ?? '').replace('.ts', '').replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase()),
  );

/** Returns exactly the variables that the template gives a function, with values for its references. */
function variablesOf(source: string, stack = functionOf): Record<string, string> {
  const variables: [string, unknown][] = Object.entries(stack(idOf(source)).Environment.Variables);
  const valueFor = (name: string) => (name === 'TABLE_NAME' ? tableName : `https://sqs.example/${name}`);
  return Object.fromEntries(
    variables.map(([name, value]) => [name, typeof value === 'string' ? value : valueFor(name)]),
  );
}

/** Calls a bundle with a check. `TABLE_NAME` is empty unless the template has it. */
const start = (source: string, more: Record<string, string> = {}, sample?: string) =>
  called(source, { startCheck: { sample } }, { TABLE_NAME: '', ...ofLambda, ...variablesOf(source), ...more });

/** Functions of each kind of event that need the table. */
const withTable = [
  'me/get-me',
  'mcp/mcp',
  'open/health',
  'pipeline/publish-events',
  'pipeline/run-execution',
  'pipeline/purge-agent',
].map((name) => `functions/${name}.ts`);

const started = functionSources().filter((source) => source !== checker);

describe('with exactly the variables of the template', () => {
  it.each(started)('%s starts', async (source) => {
    const encrypts = /register-webhook|rotate-webhook-secret/.test(source);
    const sample = Buffer.from('start check').toString('base64');
    expect(await start(source, {}, sample)).toEqual({ started: true, ...(encrypts && { sample }) });
  });

  it.each(withTable)('%s does not start without its table', async (source) => {
    expect(await start(source, { TABLE_NAME: '' })).toEqual({
      started: false,
      error: 'Error: The environment variable TABLE_NAME is not set.',
    });
  });

  it.each(started.filter((source) => 'SECRETS_KEY_ID' in variablesOf(source)))(
    '%s does not start without its key',
    async (source) => {
      const error = expect.stringContaining('no key for webhook secrets');
      expect(await start(source, { SECRETS_KEY_ID: '' }, 'sample')).toEqual({ started: false, error });
    },
  );
});

describe.each(['least', 'most'] as const)('with every number of the settings at its bound, %s', (bound) => {
  const { functionOf: bounded, resources } = synthesized(atBounds(bound));
  const [check] = Object.values(resources('Custom::StartCheck'));
  const names: string[] = check?.Properties.functions.map(({ name }: { name: string }) => name);

  it.each(started.filter((source) => names.includes(idOf(source))))('%s starts', async (source) => {
    expect(await start(source, variablesOf(source, bounded))).toMatchObject({ started: true });
  });
});

describe('a deploy', () => {
  const sources = ['webhooks/register-webhook', 'pipeline/deliver-webhook', 'me/get-me'].map(
    (name) => `functions/${name}.ts`,
  );

  /** Runs the bundle of the custom resource, whose Lambda runs the bundles of functions, and returns its response. */
  async function deployed(more: Record<string, string> = {}): Promise<{ Status: string; Reason: string }> {
    let body = '';
    const responses = await serve(async (request, response) => {
      body = await text(request);
      response.end();
    });
    const lambda = await serve(async (request, response) => {
      const [, arn = ''] = /functions\/(.+)\/invocations/.exec(decodeURIComponent(request.url ?? '')) ?? [];
      const { startCheck } = (await json(request)) as { startCheck: { sample?: string } };
      const source = sources.find((one) => idOf(one) === arn) ?? '';
      response.end(JSON.stringify(await start(source, more, startCheck.sample)));
    });
    const event = {
      RequestType: 'Create',
      ...{ ResponseURL: responses, StackId: 'stack', RequestId: 'request', LogicalResourceId: 'Check' },
      ResourceProperties: { functions: sources.map((source) => ({ name: idOf(source), arn: idOf(source) })) },
    };
    await called(checker, event, { ...ofLambda, AWS_ENDPOINT_URL_LAMBDA: lambda });
    return JSON.parse(body);
  }

  it('succeeds if its functions start', async () => {
    expect(await deployed()).toMatchObject({ Status: 'SUCCESS', Reason: 'All functions start.' });
  });

  it('fails with the function and the cause if a setting stops one', async () => {
    const { Status, Reason } = await deployed({ RETRY_LADDER: '0,1800,7200' });
    expect(Status).toBe('FAILED');
    expect(Reason).toMatch(
      /DeliverWebhook: RETRY_LADDER is "0,1800,7200"; write three whole numbers of seconds from 1/,
    );
    expect(Reason).toContain('GetMe: RETRY_LADDER');
  }, 60_000);
});
