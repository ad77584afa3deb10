import middy from '@middy/core';
import type { Endpoint, ResultOf } from '../contract/endpoint.ts';
import { envelope, refusals } from './envelope.ts';
import type { ApiEvent, ApiResult } from './exchange.ts';
import { logged } from './logged.ts';
import { timeLimit } from './out-of-time.ts';
import { parse } from './parse.ts';

/**
 * The Lambda handler of a row that asks for no token: `serve` without what needs the table. The behaviour is given
 * nothing, for an open row has no data and asks nobody, and its bundle has no client of AWS.
 */
export function serveOpen<const Row extends Endpoint & { scope?: never }>(
  row: Row,
  behaviour: () => Promise<ResultOf<Row>>,
) {
  return middy<ApiEvent, ApiResult>({ ...logged(`${row.method} ${row.path}`), ...timeLimit(row) })
    .use(refusals())
    .use(parse(row))
    .use(envelope(row))
    .handler(() => behaviour() as never);
}
