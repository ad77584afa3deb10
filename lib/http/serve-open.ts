import middy from '@middy/core';
import type { Context as LambdaContext } from 'aws-lambda';
import type { Endpoint, RequestOf, ResultOf } from '../contract/endpoint.ts';
import { withStartCheck } from '../names/start-check.ts';
import { answerHead } from './answer-head.ts';
import type { ApiEvent, ApiResult } from './api-event.ts';
import { envelope, respondToErrors } from './middleware/envelope.ts';
import { parse } from './middleware/parse.ts';
import { requestLog } from './middleware/request-log.ts';
import { timeLimit } from './middleware/time-limit.ts';

/**
 * Returns the Lambda handler of an endpoint that needs no access token: `serve` without the middlewares that need the
 * table. It adds no AWS client to the bundle. It also answers `HEAD`: uptime monitors send nothing else.
 */
export function serveOpen<const Row extends Endpoint & { scope?: never }>(
  row: Row,
  behaviour: (request: RequestOf<Row>) => Promise<ResultOf<Row>>,
) {
  const handler = middy<ApiEvent, ApiResult>({ ...requestLog(`${row.method} ${row.path}`), ...timeLimit(row) })
    .use(respondToErrors())
    .use(parse(row))
    .use(envelope(row))
    .handler(({ state }: ApiEvent) => behaviour(state as RequestOf<Row>) as never);
  // It needs no environment: a function that answers has started.
  return withStartCheck(
    async (event: ApiEvent, context: LambdaContext) => answerHead(event, await handler(event, context)),
    async () => undefined,
  );
}
