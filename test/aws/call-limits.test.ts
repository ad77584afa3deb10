import type { ServerResponse } from 'node:http';
import { EncryptCommand } from '@aws-sdk/client-kms';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CallLimits, callLimits } from '../../lib/aws/call-limits.ts';
import { createKmsClient } from '../../lib/aws/encryption.ts';
import { createSqsClient } from '../../lib/aws/queue.ts';
import { consumers } from '../../lib/names/consumers.ts';
import { attemptMs } from '../../lib/sender/sender.ts';
import { openTable } from '../../lib/table/access/client.ts';
import { attemptLeaseMs } from '../../lib/table/lease.ts';
import { startLoopbackServer } from '../servers/loopback.ts';

/** Responds to a request that the server has read. A function that does nothing leaves it without a response. */
let answer: (response: ServerResponse) => void;
let requests: number;

const { url: endpoint, close } = await startLoopbackServer((request, response) => {
  request.resume().once('end', () => {
    requests += 1;
    answer(response);
  });
});
afterAll(close);

beforeEach(() => {
  requests = 0;
});
afterEach(() => vi.unstubAllEnvs());

const Key = { pk: 'p', sk: 's' };

/** Creates each client as functions do, with a call. */
const services = {
  dynamodb: (at?: string, limits?: CallLimits) => {
    const { client } = openTable('t', at, limits);
    return { client, call: () => client.send(new GetCommand({ TableName: 't', Key })) };
  },
  kms: (at?: string, limits?: CallLimits) => {
    const client = createKmsClient(at, limits);
    return { client, call: () => client.send(new EncryptCommand({ KeyId: 'k', Plaintext: Buffer.from('s') })) };
  },
  sqs: (at?: string, limits?: CallLimits) => {
    const client = createSqsClient(at, limits);
    const Entries = [{ Id: '0', MessageBody: '{}' }];
    return { client, call: () => client.send(new SendMessageBatchCommand({ QueueUrl: `${at}/q`, Entries })) };
  },
};
const names = ['dynamodb', 'kms', 'sqs'] as const;

async function failureOf(call: Promise<unknown>): Promise<[string, number | undefined]> {
  try {
    await call;
    return ['none', 1];
  } catch (error) {
    const { name, $metadata } = error as Error & { $metadata?: { attempts?: number } };
    return [name, $metadata?.attempts];
  }
}

describe.each(names)('a call to %s', (name) => {
  const limits = { tries: 2, tryMs: 40 };

  it('without a response fails after all its tries', async () => {
    answer = () => {};
    expect(await failureOf(services[name](endpoint, limits).call())).toEqual(['TimeoutError', 2]);
  });

  it('whose response stops midway fails after all its tries', async () => {
    answer = (response) => response.writeHead(200, { 'Content-Length': '100' }).write('{');
    expect(await failureOf(services[name](endpoint, limits).call())).toEqual(['TimeoutError', 2]);
  });

  it('in AWS has the limits of its service', async () => {
    for (const [variable, value] of Object.entries({
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 's',
    }))
      vi.stubEnv(variable, value);
    answer = (response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    const { client, call } = services[name]();
    await call().catch(() => {});
    expect(requests).toBe(1);
    const { tries, tryMs } = callLimits[name];
    const { requestTimeout, throwOnRequestTimeout } = (
      client.config.requestHandler as NodeHttpHandler
    ).httpHandlerConfigs();
    expect([await client.config.maxAttempts(), requestTimeout, throwOnRequestTimeout]).toEqual([tries, tryMs, true]);
  });
});

it('a write without a response fails like a read', async () => {
  answer = () => {};
  const { client } = openTable('t', endpoint, { tries: 2, tryMs: 40 });
  expect(await failureOf(client.send(new PutCommand({ TableName: 't', Item: Key })))).toEqual(['TimeoutError', 2]);
});

describe('all tries of a call', () => {
  /** Returns the longest time of a call. The SDK's pauses start with 25 ms (DynamoDB) or 50 ms and double. */
  const longestMs = ({ tries, tryMs }: CallLimits, firstPauseMs: number) =>
    tries * tryMs + firstPauseMs * (2 ** (tries - 1) - 1);
  const dynamodbMs = longestMs(callLimits.dynamodb, 25);
  const kmsMs = longestMs(callLimits.kms, 50);
  const sqsMs = longestMs(callLimits.sqs, 50);

  it('to DynamoDB and KMS and an attempt fit into the lease of a delivery', () => {
    expect(dynamodbMs + kmsMs + attemptMs).toBeLessThan(attemptLeaseMs);
  });

  it('fit three times into the time limit of the shortest function, for each service', () => {
    const shortestMs = 1000 * Math.min(29, ...Object.values(consumers).map(({ timeoutSeconds }) => timeoutSeconds));
    for (const callMs of [dynamodbMs, kmsMs, sqsMs]) expect(3 * callMs).toBeLessThan(shortestMs);
  });
});
