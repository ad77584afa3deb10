import middy, { type MiddlewareObj } from '@middy/core';
import { type App, app } from '../app.ts';
import type { Endpoint, ResultOf, Scope } from '../contract/endpoint.ts';
import { type Origin, onBehalfOf } from '../table/trace.ts';
import { authenticate } from './authenticate.ts';
import { envelope, refuse } from './envelope.ts';
import type { ApiEvent, ApiResult, Served } from './exchange.ts';
import { idempotent, OutOfTime } from './idempotent.ts';
import { logged } from './logged.ts';
import { parse } from './parse.ts';

/**
 * What a function does for its row, once the request is known to be a good one. An open row is given no app: it has
 * no data, and asks nobody (design §2).
 */
export type Behaviour<Row extends Endpoint> = (
  request: Served<Row>,
  app: Row['scope'] extends Scope ? App : undefined,
) => Promise<ResultOf<Row>>;

/**
 * The Lambda handler of a row: the only place for bearer check, scope check, parsing, idempotency, the envelope,
 * refusals and the log line. The order of the middlewares is the order of checks of design §2.
 *
 * @param open the composition root; tests pass their own
 */
export function serve<const Row extends Endpoint>(row: Row, behaviour: Behaviour<Row>, open: () => App = app) {
  return middy<ApiEvent, ApiResult>({ ...logged(`${row.method} ${row.path}`), timeoutEarlyResponse: outOfTime })
    .use(refusals())
    .use(authenticate(row, open))
    .use(parse(row))
    .use(idempotent(row, open))
    .use(envelope(row))
    .handler((event: ApiEvent) => {
      const given = (row.scope && open()) as Parameters<Behaviour<Row>>[1];
      return onBehalfOf(originOf(event), () => behaviour(event.served as Served<Row>, given) as never);
    });
}

function originOf({ requestContext, served }: ApiEvent): Origin {
  return { requestId: requestContext.requestId, tokenId: served?.caller?.tokenId };
}

/** Answers what was thrown as a refusal, unless a middleware before it has found an answer. */
function refusals(): MiddlewareObj<ApiEvent, ApiResult> {
  return {
    onError: (request) => {
      request.response ??= refuse(request.event, request.error);
    },
  };
}

function outOfTime(): never {
  throw new OutOfTime();
}
