import middy from '@middy/core';
import type { Endpoint, ResultOf } from '../contract/endpoint.ts';
import type { ApiEvent, ApiResult } from './api-event.ts';
import { envelope, errorResponses } from './envelope.ts';
import { parse } from './parse.ts';
import { requestLog } from './request-log.ts';
import { timeLimit } from './time-limit.ts';

/**
 * The Lambda handler of a row that asks for no token: `serve` without what needs the table. The behaviour is given
 * nothing, for an open row has no data and asks nobody, and its bundle has no client of AWS.
 */
export function serveOpen<const Row extends Endpoint & { scope?: never }>(
  row: Row,
  behaviour: () => Promise<ResultOf<Row>>,
) {
  return middy<ApiEvent, ApiResult>({ ...requestLog(`${row.method} ${row.path}`), ...timeLimit(row) })
    .use(errorResponses())
    .use(parse(row))
    .use(envelope(row))
    .handler(() => behaviour() as never);
}
