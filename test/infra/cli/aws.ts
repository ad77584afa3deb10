import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, onTestFinished, vi } from 'vitest';
import type { Resource } from '../../../infra/aws/deployed/stack.ts';
import type { Ended } from '../../processes/service-process.ts';

/** A received request: its service and action, its path, and its parsed body. */
export type AwsRequest = { action: string; path: string; body: Record<string, unknown> };

/** An answer of AWS. A string is sent unchanged, anything else as JSON. */
export type AwsAnswer = { status?: number; headers?: Record<string, string>; body: unknown };

/** The answers by action: `service:Action`, or `service:METHOD /path` for a service with paths. */
export type Answers = Record<string, (request: AwsRequest) => AwsAnswer | Promise<AwsAnswer>>;

/** Starts a server that answers requests to AWS. Returns the environment of a shell that uses it, and its requests. */
export async function startAws(answers: Answers): Promise<{ shell: Record<string, string>; asked: AwsRequest[] }> {
  const asked: AwsRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    const text = (await Array.fromAsync(incoming)).join('');
    const service = /\/([a-z]+)\/aws4_request/.exec(headers.authorization ?? '')?.[1];
    const form = Object.fromEntries(new URLSearchParams(text));
    const target = headers['x-amz-target'] as string | undefined;
    const name = target?.split('.')[1] ?? form.Action ?? `${method} ${decodeURIComponent(path)}`;
    const request = { action: `${service}:${name}`, path, body: text.startsWith('{') ? JSON.parse(text) : form };
    asked.push(request);
    const unknown: AwsAnswer = { status: 400, body: { __type: 'UnknownOperationException', message: request.action } };
    const { status = 200, headers: own = {}, body } = (await answers[request.action]?.(request)) ?? unknown;
    outgoing.writeHead(status, own).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own = { AWS_ENDPOINT_URL: url, AWS_REGION: 'eu-central-1' };
  const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  // The user who runs the tests may have AWS settings.
  const noFiles = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  return { shell: { ...own, ...keys, ...noFiles }, asked };
}

/** Uses a server that answers requests to AWS in the environment of this process, until the test ends. */
export async function useAws(answers: Answers): Promise<AwsRequest[]> {
  const { shell, asked } = await startAws(answers);
  for (const [name, value] of Object.entries(shell)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  return asked;
}

/** Returns the answer of `DescribeStacks` for a stack with these outputs. */
export function describedStack(outputs: Record<string, string>, status = 'UPDATE_COMPLETE'): AwsAnswer {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const fields = `<StackStatus>${status}</StackStatus><Outputs>${members.join('')}</Outputs>`;
  return xmlResult('DescribeStacks', `<Stacks><member>${fields}</member></Stacks>`);
}

export function xmlResult(action: string, content: string): AwsAnswer {
  return { body: `<${action}Response><${action}Result>${content}</${action}Result></${action}Response>` };
}

/**
 * Checks that a command failed without output and without a stack trace, and returns its standard error. The exit code is 2
 * if the parser of the command line has rejected it, which adds a hint to its message.
 */
export function errorOf({ code, stdout, stderr }: Ended): string {
  expect([code, stdout]).toEqual([stderr.includes('Add --help to see') ? 2 : 1, '']);
  expect(stderr).not.toMatch(/^\s+at /m);
  return stderr;
}

export function xmlError(code: string, message: string, status = 400): AwsAnswer {
  const error = `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, body: `<ErrorResponse>${error}</ErrorResponse>` };
}

/** Returns the answer of `ListStackResources`, with one resource a page, so that tests cover paging. */
export function stackResources(resources: readonly Resource[]): Answers[string] {
  return ({ body }) => {
    const at = Number(body.NextToken ?? 0);
    const { id, type, name } = resources[at] as Resource;
    const next = at + 1 < resources.length ? `<NextToken>${at + 1}</NextToken>` : '';
    const fields = { LogicalResourceId: id, ResourceType: type, PhysicalResourceId: name };
    const member = Object.entries(fields).map(([field, value]) => `<${field}>${value}</${field}>`);
    const summaries = `<StackResourceSummaries><member>${member.join('')}</member></StackResourceSummaries>`;
    return xmlResult('ListStackResources', summaries + next);
  };
}
