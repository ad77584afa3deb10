import { join } from 'node:path';
import type * as bedrock from '@aws-sdk/client-bedrock-runtime';
import type * as dynamodb from '@aws-sdk/client-dynamodb';
import type * as kms from '@aws-sdk/client-kms';
import type * as sqs from '@aws-sdk/client-sqs';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { asFunctions } from '../../../../infra/aws/bundle.ts';
import { readErrors } from '../../../../infra/aws/bundle-sdk.ts';
import { bedrockError, json, startBedrock } from '../../../model/bedrock-server.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';

const contents = `
export { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
export * from '@aws-sdk/client-dynamodb';
export { DecryptCommand, KMSClient } from '@aws-sdk/client-kms';
export { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
`;
const outfile = join(createTemporaryFolder(), 'clients.mjs');
await build({ ...asFunctions, stdin: { contents, resolveDir: import.meta.dirname }, outfile });
const bundled: typeof bedrock & typeof dynamodb & typeof kms & typeof sqs = await import(outfile);
const service = await startBedrock();
const config = { endpoint: service.endpoint, region: 'eu-central-1', maxAttempts: 1 };

beforeEach(() => {
  service.received.length = 0;
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'example');
  vi.stubEnv('AWS_SESSION_TOKEN', 'of this container');
});

afterEach(() => void vi.unstubAllEnvs());

const decrypt = () =>
  new bundled.KMSClient(config).send(new bundled.DecryptCommand({ CiphertextBlob: new Uint8Array([1]) }));
const converse = (more: object) => {
  const command = new bundled.ConverseCommand({ modelId: 'm', messages: [] });
  return new bundled.BedrockRuntimeClient({ ...config, ...more }).send(command);
};
const send = () => {
  const command = new bundled.SendMessageBatchCommand({ QueueUrl: `${service.endpoint}/queue`, Entries: [] });
  return new bundled.SQSClient(config).send(command);
};

it.each([
  ['Bedrock', () => converse({ requestHandler: new NodeHttpHandler() }), { stopReason: 'end_turn' }],
  ['KMS', decrypt, { KeyId: 'key' }],
  ['SQS', send, { Failed: [], Successful: [{ Id: '0', MessageId: 'm', MD5OfMessageBody: 'md5' }] }],
])('the bundled client of %s signs with the credentials of the environment', async (_, request, response) => {
  service.answer = json(response);
  expect(await request()).toMatchObject(response);
  const authorization = expect.stringContaining('Credential=AKIDEXAMPLE/');
  expect(service.received).toMatchObject([{ headers: { authorization, 'x-amz-security-token': 'of this container' } }]);
});

it.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])(
  'a bundled client names %s where it is not set',
  async (name) => {
    vi.stubEnv(name, undefined);
    await expect(decrypt()).rejects.toThrow(`The environment variable ${name} is not set.`);
    expect(service.received).toEqual([]);
  },
);

it('the bundled client of Bedrock needs a request handler', async () => {
  await expect(converse({})).rejects.toThrow('HTTP/2 is not bundled; give the client a request handler.');
});

it.each(readErrors)('the bundled client of DynamoDB throws %s as the class that the project compares', async (name) => {
  const old = { pk: { S: 'of before' } };
  service.answer = json({ __type: name, Item: old, CancellationReasons: [{ Code: 'None', Item: old }] }, 400);
  const read = new bundled.DynamoDBClient(config).send(new bundled.GetItemCommand({ TableName: 't', Key: {} }));
  const error = await read.catch((thrown) => thrown);
  expect(error).toBeInstanceOf(bundled[name]);
  if ('CancellationReasons' in error) expect(error.CancellationReasons).toEqual([{ Code: 'None', Item: old }]);
});

it.each([
  ['Bedrock', () => converse({ requestHandler: new NodeHttpHandler() }), 'ModelErrorException'],
  ['KMS', decrypt, 'DisabledException'],
  ['SQS', send, 'QueueDoesNotExist'],
])(
  'the bundled client of %s keeps name, message and status of an error whose class it has not',
  async (_, request, name) => {
    service.answer =
      name === 'ModelErrorException'
        ? bedrockError(424, name, 'It does not work.')
        : json({ __type: `com.amazonaws#${name}`, message: 'It does not work.' }, 424);
    const kept = { name, message: 'It does not work.', $metadata: { httpStatusCode: 424 } };
    await expect(request()).rejects.toMatchObject(kept);
  },
);

it('a bundled client has no adaptive retries, and says so', async () => {
  await expect(converse({ requestHandler: new NodeHttpHandler(), retryMode: 'adaptive' })).rejects.toThrow(
    'Adaptive retries are not bundled; remove AWS_RETRY_MODE from the environment.',
  );
});
