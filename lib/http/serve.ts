import middy from '@middy/core';
import type { Base } from '../apps/base.ts';
import type { Endpoint, ResultOf, Scope } from '../contract/endpoint.ts';
import { type Origin, onBehalfOf } from '../table/trace.ts';
import { authenticate } from './authenticate.ts';
import { envelope, refusals } from './envelope.ts';
import type { ApiEvent, ApiResult, Served } from './exchange.ts';
import { idempotent } from './idempotent.ts';
import { logged } from './logged.ts';
import { timeLimit } from './out-of-time.ts';
import { parse } from './parse.ts';

/** A row that asks for a token; `serveOpen` serves the others. */
type ScopedEndpoint = Endpoint & { scope: Scope };

/** What a function does for its row, once the request is known to be a good one. */
export type Behaviour<Row extends Endpoint, App extends Base> = (
  request: Served<Row>,
  app: App,
) => Promise<ResultOf<Row>>;

/**
 * The Lambda handler of a row: the only place for bearer check, scope check, parsing, idempotency, the envelope,
 * refusals and the log line. The order of the middlewares is the order of checks of design §2.
 *
 * @param open opens the app of the row's family; tests pass their own
 */
export function serve<const Row extends ScopedEndpoint, App extends Base>(
  row: Row,
  behaviour: Behaviour<Row, App>,
  open: () => App,
) {
  return middy<ApiEvent, ApiResult>({ ...logged(`${row.method} ${row.path}`), ...timeLimit })
    .use(refusals())
    .use(authenticate(row, open))
    .use(parse(row))
    .use(idempotent(row, open))
    .use(envelope(row))
    .handler((event: ApiEvent) =>
      onBehalfOf(originOf(event), () => behaviour(event.served as Served<Row>, open()) as never),
    );
}

function originOf({ requestContext, served }: ApiEvent): Origin {
  return { requestId: requestContext.requestId, tokenId: served?.caller?.tokenId };
}
