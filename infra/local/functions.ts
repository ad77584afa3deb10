import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';

/** A Lambda handler, whatever it is called with. */
export type Handler = (event: unknown, context: Context) => Promise<unknown>;

/** Loads the handler of `functions/<folder>/<file>.ts`: the very module that the stack deploys. */
export async function loadHandler(folder: string, file: string): Promise<Handler> {
  const module = (await import(`../../functions/${folder}/${file}.ts`)) as { handler: Handler };
  return module.handler;
}

/** The context that Lambda gives a call: who is called, and how much time it has. */
export function contextOf(functionName: string, timeoutSeconds: number): Context {
  const deadline = Date.now() + timeoutSeconds * 1000;
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
    getRemainingTimeInMillis: () => deadline - Date.now(),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}
