import { setTimeout as wait } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { CloudFormationCustomResourceEvent, Context as LambdaContext } from 'aws-lambda';
import { clientConfig } from '../aws/client-config.ts';
import { log } from '../context/log.ts';
import {
  type CheckedFunction,
  causeOf,
  type StartCheckAnswer,
  type StartCheckEvent,
  type StartCheckProperties,
} from '../names/start-check.ts';

/** How many functions are called at the same time. A new account has ten concurrent calls in all. */
const concurrentCalls = 4;

/** The longest time of a call, in milliseconds. A cold start takes a second, and the calls of a check at most ten. */
const callMs = 20_000;

/**
 * The waits before a failed check is repeated, in milliseconds. On a first deploy, IAM may not know the roles of the functions
 * everywhere yet, and a function may have no free concurrency.
 */
const waitsMs = [2_000, 5_000, 10_000, 20_000];

/** The time that is kept for the response to CloudFormation, in milliseconds, and the number and time of its tries. */
const responseMs = 15_000;
const responseTries = 3;

/** The most characters of one error, and of the reason of a failure. CloudFormation accepts responses of 4 KB. */
const longestError = 500;
const longestReason = 3_000;

type Options = {
  /** Calls a function with a check, and returns its answer. */
  call: (arn: string, event: StartCheckEvent, timeoutMs: number) => Promise<StartCheckAnswer>;
  /** Sends the response to CloudFormation. */
  respond: (url: string, body: string) => Promise<void>;
  pause: (milliseconds: number) => Promise<unknown>;
};

/**
 * Returns the Lambda handler of the custom resource that checks a deploy: at its creation it calls functions, and answers with
 * an error if one does not start, so that CloudFormation rolls the deploy back. Every deploy that changes a function or a
 * setting creates a new one. An update and a deletion are answered with success at once, so neither a rollback nor the deletion
 * of a stack waits for a check.
 */
export function checkFunctions(options: Partial<Options> = {}) {
  const { call = callFunction, respond = putResponse, pause = wait } = options;
  return async (event: CloudFormationCustomResourceEvent, lambda: Pick<LambdaContext, 'getRemainingTimeInMillis'>) => {
    const failures = event.RequestType === 'Create' ? await failuresOf(event, lambda) : [];
    if (failures.length > 0) log().error('start check', { failures });
    const { StackId, RequestId, LogicalResourceId } = event;
    const body = {
      ...{ StackId, RequestId, LogicalResourceId },
      PhysicalResourceId: event.RequestType === 'Create' ? LogicalResourceId : event.PhysicalResourceId,
      Status: failures.length > 0 ? 'FAILED' : 'SUCCESS',
      Reason: reasonOf(failures),
    };
    await respond(event.ResponseURL, JSON.stringify(body));
  };

  async function failuresOf(
    { ResourceProperties }: CloudFormationCustomResourceEvent,
    lambda: Pick<LambdaContext, 'getRemainingTimeInMillis'>,
  ): Promise<string[]> {
    const { functions } = ResourceProperties as unknown as StartCheckProperties;
    const [first, ...others] = functions;
    const failures: string[] = [];
    let sample: string | undefined;
    const check = async ({ name, arn }: CheckedFunction) => {
      const answer = await answerOf(arn, sample, () => lambda.getRemainingTimeInMillis() - responseMs);
      if (!answer.started) failures.push(`${name}: ${lineOf(answer.error)}`);
      else sample ??= answer.sample;
    };
    if (first) await check(first);
    const remaining = [...others];
    const work = async () => {
      for (let next = remaining.shift(); next; next = remaining.shift()) await check(next);
    };
    await Promise.all(Array.from({ length: concurrentCalls }, work));
    return failures;
  }

  /** Calls a function until it has started, the waits are used up, or the time is over. */
  async function answerOf(
    arn: string,
    sample: string | undefined,
    remainingMs: () => number,
  ): Promise<StartCheckAnswer> {
    let answer: StartCheckAnswer = { started: false, error: 'The check had no time left.' };
    for (const waitMs of [0, ...waitsMs]) {
      const timeoutMs = Math.min(callMs, remainingMs() - waitMs);
      if (timeoutMs <= 0) return answer;
      if (waitMs > 0) await pause(waitMs);
      try {
        answer = await call(arn, { startCheck: { sample } }, timeoutMs);
      } catch (error) {
        answer = { started: false, error: causeOf(error) };
      }
      if (answer.started) return answer;
    }
    return answer;
  }
}

/** Returns the text of an error in one line. */
function lineOf(error: string): string {
  return error
    .replace(/^Error: /, '')
    .replaceAll(/\s+/g, ' ')
    .slice(0, longestError);
}

function reasonOf(failures: readonly string[]): string {
  if (failures.length === 0) return 'All functions start.';
  return `Functions do not start: ${failures.join(' | ')}`.slice(0, longestReason);
}

let client: LambdaClient | undefined;

async function callFunction(arn: string, event: StartCheckEvent, timeoutMs: number): Promise<StartCheckAnswer> {
  client ??= new LambdaClient({ ...clientConfig(undefined), maxAttempts: 2 });
  const command = new InvokeCommand({ FunctionName: arn, Payload: JSON.stringify(event) });
  const { FunctionError, Payload } = await client.send(command, { abortSignal: AbortSignal.timeout(timeoutMs) });
  const answer = JSON.parse(Buffer.from(Payload ?? []).toString() || 'null');
  if (FunctionError) throw failureOf(answer);
  if (typeof answer?.started !== 'boolean') throw new Error('The function has no answer to a check.');
  return answer;
}

/** Returns the error that Lambda reports of a function: its code did not load, it crashed, or it took too long. */
function failureOf(reported: { errorType?: string; errorMessage?: string } | null): Error {
  const { errorType = 'Error', errorMessage = 'The function failed.' } = reported ?? {};
  return Object.assign(new Error(errorMessage), { name: errorType });
}

/** Sends a response to the URL of CloudFormation, which is the URL of an object in S3. */
async function putResponse(url: string, body: string): Promise<void> {
  for (let number = 1; ; number++) {
    try {
      const signal = AbortSignal.timeout(responseMs / (responseTries + 1));
      const { ok, status } = await fetch(url, { method: 'PUT', body, headers: { 'Content-Type': '' }, signal });
      if (ok) return;
      throw new Error(`CloudFormation did not take the response: ${status}.`);
    } catch (error) {
      if (number === responseTries) throw error;
    }
  }
}
