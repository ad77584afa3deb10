import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';

/** A Lambda handler of any event. */
export type Handler = (event: unknown, context: Context) => Promise<unknown>;

/** Loads the handler of `functions/<folder>/<file>.ts`, the module that the stack deploys. */
export async function loadHandler(folder: string, file: string): Promise<Handler> {
  const module = (await import(`../../functions/${folder}/${file}.ts`)) as { handler: Handler };
  return module.handler;
}

/** Returns the context that Lambda gives a call of a function, with the function's name and the remaining time. */
export function contextOf(functionName: string, timeoutSeconds: number): Context {
  const deadline = performance.now() + timeoutSeconds * 1000;
  const awsRequestId = randomUUID();
  return {
    awsRequestId,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${functionName}`,
    memoryLimitInMB: '512',
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => deadline - performance.now(),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}
