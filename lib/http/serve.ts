import middy, { type Request } from '@middy/core';
import type { Context as LambdaContext } from 'aws-lambda';
import { type Context, processContext } from '../context/context.ts';
import type { Endpoint, ResultOf } from '../contract/endpoint.ts';
import { withStartCheck } from '../names/start-check.ts';
import { runWithRequest } from '../table/access/current-request.ts';
import { isOutage } from '../table/access/lost-responses.ts';
import { unavailable } from '../table/access/unavailable.ts';
import { checkTable } from '../table/check-table.ts';
import { type ApiEvent, type ApiResult, actorOf, type BehaviourRequest, callerOf } from './api-event.ts';
import { waitForReport } from './limits/report-wait.ts';
import { finishRequest } from './limits/requests.ts';
import { authenticate } from './middleware/authenticate.ts';
import { envelope, respondToErrors } from './middleware/envelope.ts';
import { idempotent } from './middleware/idempotent.ts';
import { knownMethod } from './middleware/known-method.ts';
import { limitCallsOut, limitRequests } from './middleware/limit-requests.ts';
import { parse } from './middleware/parse.ts';
import { requestLog } from './middleware/request-log.ts';
import { timeLimit } from './middleware/time-limit.ts';

/** An endpoint that needs an access token; `serveOpen` serves the others. */
type ScopedEndpoint = Endpoint & { scope: NonNullable<Endpoint['scope']> };

/** The behaviour of an endpoint: called for a request that has passed all checks of the middlewares. */
export type Behaviour<Row extends Endpoint> = (
  request: BehaviourRequest<Row>,
  context: Context,
) => Promise<ResultOf<Row>>;

/** Returns the middy options of an endpoint that needs an access token: its log, its time limit, and the end of its counting. */
export function requestHooks(row: Endpoint, getContext: () => Context) {
  const { requestStart, requestEnd } = requestLog(`${row.method} ${row.path}`);
  const end = async (request: Request) => {
    requestEnd(request);
    const { admission, callAdmission, useReport } = (request as Request<ApiEvent>).event.state ?? {};
    // Together: a response waits only once, and the wait for one report is not counted as time of the request.
    await Promise.all([
      useReport && waitForReport(useReport),
      ...[admission, callAdmission].map((counted) => counted && finishRequest(getContext(), counted)),
    ]);
  };
  return { requestStart, requestEnd: end, ...timeLimit(row) };
}

/**
 * Returns the Lambda handler of an endpoint: the only place for authentication, scopes, limits, parsing, idempotency,
 * the envelope, error responses and the log line. The order of the middlewares is the order of checks
 * (docs/architecture.md#order-of-checks).
 *
 * @param getContext returns the context; tests pass their own
 */
export function serve<const Row extends ScopedEndpoint>(
  row: Row,
  behaviour: Behaviour<Row>,
  getContext: () => Context = processContext,
) {
  const handler = middy<ApiEvent, ApiResult>(requestHooks(row, getContext))
    .use(respondToErrors())
    .use(knownMethod(row))
    .use(authenticate(row, getContext))
    .use(limitRequests(getContext))
    .use(limitCallsOut(row, getContext))
    .use(parse(row))
    .use(idempotent(row, getContext))
    .use(envelope(row))
    .handler((event: ApiEvent) => {
      const { requestId } = event.requestContext;
      return runWithRequest({ requestId, actor: actorOf(callerOf(event)) }, async () => {
        try {
          return (await behaviour(event.state as BehaviourRequest<Row>, getContext())) as never;
        } catch (error) {
          throw isOutage(error) ? unavailable(error) : error;
        }
      });
    });
  return withRequestIds(handler, getContext);
}

/**
 * Returns the Lambda handler of requests that need the table. Its middlewares also read and write the table for the request, so
 * they run with its id. It answers the check of a deploy.
 */
export function withRequestIds(
  handler: (event: ApiEvent, context: LambdaContext) => Promise<ApiResult>,
  getContext: () => Context,
) {
  return withStartCheck(
    (event: ApiEvent, context: LambdaContext): Promise<ApiResult> =>
      runWithRequest({ requestId: event.requestContext.requestId }, () => handler(event, context)),
    () => checkTable(getContext()),
  );
}
