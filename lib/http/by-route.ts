import type { Context } from 'aws-lambda';
import { type Endpoint, methodsOf, templateOf } from '../contract/endpoint.ts';
import { withStartCheck } from '../names/start-check.ts';
import type { ApiEvent, ApiResult } from './api-event.ts';

type Handler = (event: ApiEvent, context: Context) => Promise<ApiResult>;

/** Returns one Lambda handler for several endpoints. It calls the handler of the route that API Gateway has matched. */
export function byRoute(...handlers: readonly (readonly [Endpoint, Handler])[]): Handler {
  const byKey = new Map<string, Handler>(
    handlers.flatMap(([row, handler]) =>
      methodsOf(row).map((method) => [`${method} ${templateOf(row.path)}`, handler] as const),
    ),
  );
  const handler: Handler = (event, context) => (byKey.get(event.routeKey) as Handler)(event, context);
  return withStartCheck(handler, async () => undefined);
}
