import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import * as bedrockModels from '@aws-sdk/client-bedrock-runtime';
import * as dynamodbModels from '@aws-sdk/client-dynamodb';
import * as kmsModels from '@aws-sdk/client-kms';
import * as sqsModels from '@aws-sdk/client-sqs';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { describe, expect, inject, it, vi } from 'vitest';
import { keptErrors } from '../../infra/aws/client-schemas.ts';
import { createTable } from '../../infra/local/table.ts';
import { clientConfig } from '../../lib/aws/client-config.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { isHopeless } from '../../lib/queue/hopeless.ts';
import { json, refusal, startBedrock } from '../model/bedrock-server.ts';
import { bundledClients } from './bundled-clients.ts';
import * as sources from './clients.ts';

/** What an error of AWS is to those who meet it. */
type Met = Error & { $fault: string; $retryable?: object; $metadata: { httpStatusCode?: number; requestId?: string } };
type ErrorClass = new (options: object) => Met;

// The SDK pauses for up to a second before it tries again by itself. The table's client has limits of its own.
vi.stubEnv('AWS_MAX_ATTEMPTS', '1');
const once = { tries: 1, tryMs: 5_000 };

const bundled = await bundledClients();
const service = await startBedrock();
const endpoint = inject('dynamodbEndpoint');
const tableName = `test-${randomUUID()}`;
await createTable(endpoint, tableName);

/** The errors that a client models, by name. */
function modelled(models: object): [string, ErrorClass][] {
  return Object.entries(models).filter(
    ([name, model]) => model?.prototype instanceof Error && !name.endsWith('ServiceException'),
  );
}

const raised = async (work: Promise<unknown>): Promise<Met> =>
  work.then(
    () => expect.unreachable('Nothing was raised.'),
    (error) => error,
  );

/** Answers of the JSON protocols of DynamoDB, SQS and KMS. */
const refuses = (name: string, status = 400, more: object = {}, headers = {}) =>
  json({ __type: `com.amazonaws.service#${name}`, message: `${name} it is.`, ...more }, status, headers);

const single = { Put: { Item: { pk: 'p', sk: 'taken' }, ConditionExpression: 'attribute_not_exists(pk)' } };
const question = { model: 'm', system: '', user: 'Hi.', maxTokens: 10, signal: new AbortController().signal };

describe.each([
  ['from the sources', sources],
  ['bundled', bundled],
])('an error of AWS, met %s,', (_, clients) => {
  const table = { ...clients.openTable(tableName, endpoint, once), sleep: async () => {} };
  const elsewhere = { ...clients.openTable(tableName, service.endpoint, once), sleep: async () => {} };

  it('tells of a failed condition by the item that was found', async () => {
    const item = { pk: randomUUID(), sk: 'a', text: 'ä', count: 7, bytes: new Uint8Array([1, 2, 255]), on: true };
    const put = { Put: { Item: item, ConditionExpression: 'attribute_not_exists(pk)' } };
    await clients.transact(table, [put]);
    const found: unknown[] = [];
    const otherwise = (one: unknown) => {
      found.push(one);
      return new Error('taken');
    };
    await expect(clients.transact(table, [{ ...put, otherwise }])).rejects.toThrow('taken');
    expect(found).toEqual([item]);
  });

  it('tells of a cancelled transaction by reasons and items, each of its own write', async () => {
    const pk = randomUUID();
    const put = (sk: string) => ({ Put: { Item: { pk, sk }, ConditionExpression: 'attribute_not_exists(pk)' } });
    await clients.transact(table, [{ Put: { Item: { pk, sk: 'b', bytes: new Uint8Array([9]) } } }]);
    const found: unknown[] = [];
    const writes = ['a', 'b', 'c'].map((sk) => ({
      ...put(sk),
      otherwise: (one: unknown) => {
        found.push([sk, one]);
        return new Error(`${sk} is taken`);
      },
    }));
    await expect(clients.transact(table, writes)).rejects.toThrow('b is taken');
    expect(found).toEqual([['b', { pk, sk: 'b', bytes: new Uint8Array([9]) }]]);
  });

  it.each(['TransactionConflictException', 'ThrottlingException'])('of the kind %s is tried again', async (name) => {
    service.received.length = 0;
    service.answer = (response) => (service.received.length === 1 ? refuses(name) : json({}))(response);
    await clients.transact(elsewhere, [single]);
    expect(service.received).toHaveLength(2);
  });

  it('of a transaction still in progress is tried again under the same token', async () => {
    service.received.length = 0;
    const name = 'TransactionInProgressException';
    service.answer = (response) => (service.received.length === 1 ? refuses(name) : json({}))(response);
    await clients.transact(elsewhere, [single, single]);
    expect(new Set(service.received.map(({ body }) => JSON.parse(body).ClientRequestToken)).size).toBe(1);
    expect(service.received).toHaveLength(2);
  });

  it('for which the house has no meaning comes as it is, with what the log tells of it', async () => {
    const missing = { ...table, name: `no-${tableName}` };
    const error = await raised(clients.transact(missing, [single]));
    expect(error.name).toBe('ResourceNotFoundException');
    expect(error.message).toBe('Requested resource not found');
    expect(error.$metadata).toMatchObject({ httpStatusCode: 400 });
    expect(clients.isThrottling(error)).toBe(false);
    expect(isHopeless(error)).toBe(false);
  });

  it('ends a send to a queue that is not there, for its source to try again', async () => {
    const sqs = new clients.SQSClient(clientConfig(service.endpoint));
    const query = { 'x-amzn-query-error': 'AWS.SimpleQueueService.NonExistentQueue;Sender' };
    service.answer = refuses('QueueDoesNotExist', 400, {}, query);
    const queue = clients.openQueue(sqs, `${service.endpoint}/queue`);
    const error = await raised(queue.send([{ message: {}, delaySeconds: 0 }]));
    expect(error.message).toBe('QueueDoesNotExist it is.');
    expect(isHopeless(error)).toBe(false);
  });

  it('keeps a secret from being opened, for the attempt to come again', async () => {
    const kms = new clients.KMSClient(clientConfig(service.endpoint));
    service.answer = refuses('KMSInvalidStateException');
    const secrets = clients.openKms(kms, 'key', Date.now);
    const error = await raised(secrets.open('c2VhbGVk', { organization: 'acme' }));
    expect([error.name, error.message]).toEqual(['KMSInvalidStateException', 'KMSInvalidStateException it is.']);
    expect(isHopeless(error)).toBe(false);
  });

  it.each([
    [429, 'ThrottlingException', { kind: 'throttled' }],
    [429, 'ModelNotReadyException', { kind: 'throttled' }],
    [400, 'ServiceQuotaExceededException', { kind: 'throttled' }],
    [408, 'ModelTimeoutException', { kind: 'faulty', error: 'The model took too long to answer.' }],
    [404, 'ResourceNotFoundException', { kind: 'failed', error: expect.stringContaining('no such model') }],
    [400, 'ValidationException', { kind: 'failed', error: expect.stringContaining('did not take the request') }],
    [403, 'AccessDeniedException', { kind: 'failed', error: expect.stringContaining('no access') }],
  ] as const)('%i of a model, %s, is told as what it means', async (status, name, answer) => {
    service.answer = refusal(status, name);
    expect(await clients.openBedrock({ [environment.modelEndpoint]: service.endpoint })(question)).toEqual({
      tokens: 0,
      ...answer,
    });
  });
});

describe('the errors that keep their class in the bundles', () => {
  const clients = {
    'client-bedrock-runtime': bedrockModels,
    'client-dynamodb': dynamodbModels,
    'client-kms': kmsModels,
    'client-sqs': sqsModels,
  };
  const known = Object.values(clients).flatMap(modelled);

  it('are those that a client models', () => {
    expect(keptErrors.filter((name) => !known.some(([other]) => other === name))).toEqual([]);
  });

  it('are all that the sources know by their class', () => {
    const imports = globSync(['lib/**/*.ts', 'functions/**/*.ts']).flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/^import \{([^}]+)\} from '@aws-sdk\/client-/gm),
    ]);
    const named = imports.flatMap(([, names = '']) => names.split(',').map((name) => name.trim()));
    const errors = named.filter((name) => known.some(([other]) => other === name));
    expect(errors).toContain('ConditionalCheckFailedException');
    expect(errors.filter((name) => !keptErrors.includes(name))).toEqual([]);
  });

  it('are all that the SDK tries again because of their class', () => {
    const retried = known.filter(([, error]) => new error({ message: '', $metadata: {} }).$retryable);
    expect(retried.map(([name]) => name).filter((name) => !keptErrors.includes(name))).toEqual([]);
  });
});

describe('every error that a client models', () => {
  const config = clientConfig(service.endpoint);
  const asked: [string, object, (from: typeof sources) => Promise<unknown>][] = [
    [
      'DynamoDB',
      dynamodbModels,
      ({ openTable, GetCommand }) =>
        openTable('t', service.endpoint, once).client.send(new GetCommand({ TableName: 't', Key: { pk: 'p' } })),
    ],
    [
      'KMS',
      kmsModels,
      ({ KMSClient, DecryptCommand }) =>
        new KMSClient(config).send(new DecryptCommand({ CiphertextBlob: new Uint8Array([1]) })),
    ],
    [
      'SQS',
      sqsModels,
      ({ SQSClient, SendMessageBatchCommand }) =>
        new SQSClient(config).send(new SendMessageBatchCommand({ QueueUrl: `${service.endpoint}/q`, Entries: [] })),
    ],
    [
      'Bedrock',
      bedrockModels,
      ({ BedrockRuntimeClient, ConverseCommand }) =>
        new BedrockRuntimeClient({ ...config, requestHandler: new NodeHttpHandler() }).send(
          new ConverseCommand({ modelId: 'm', messages: [] }),
        ),
    ],
  ];

  it.each(asked)(
    'of %s, bundled or not, is told by the same name, message, fault and status',
    async (_, models, ask) => {
      const errors = modelled(models);
      expect(errors.length).toBeGreaterThan(5);
      for (const [name, error] of errors) {
        const { $fault } = new error({ message: '', $metadata: {} });
        service.answer = refuses(name, $fault === 'server' ? 500 : 400);
        const [fromSources, fromBundle] = [told(await raised(ask(sources))), told(await raised(ask(bundled)))];
        expect(fromBundle).toEqual(fromSources);
        expect(fromBundle).toMatchObject({ name, message: `${name} it is.`, $fault });
      }
    },
  );
});

/** All that anything tells an error of AWS by. */
function told({ name, message, $fault, $retryable, $metadata }: Met) {
  return { name, message, $fault, $retryable, status: $metadata.httpStatusCode };
}
