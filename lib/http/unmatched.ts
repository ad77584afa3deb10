import middy from '@middy/core';
import type { Context as LambdaContext } from 'aws-lambda';
import { methodsOf } from '../contract/endpoint.ts';
import { ApiError } from '../contract/errors.ts';
import { matchPath, routes } from '../contract/routes.ts';
import { withStartCheck } from '../names/start-check.ts';
import { answerHead } from './answer-head.ts';
import type { ApiEvent, ApiResult } from './api-event.ts';
import { errorResponse } from './middleware/envelope.ts';
import { methodNotAllowed } from './middleware/known-method.ts';
import { requestLog } from './middleware/request-log.ts';

/**
 * Returns the handler of the `$default` route, for requests that match no endpoint: 405 with `Allow` if the path has
 * other methods (204 for OPTIONS), else 404. It needs no access token.
 */
export function unmatched() {
  const handler = middy<ApiEvent, ApiResult>(requestLog('$default')).handler(async (event: ApiEvent) => {
    const { method } = event.requestContext.http;
    const matches = matchPath(event.rawPath);
    // A static path, such as /api/agents/skills, does not have the methods of /api/agents/:name.
    const methods = matches
      .filter(({ row }) => row.path === matches[0]?.row.path)
      .flatMap(({ row }) => methodsOf(row))
      .sort();
    const allow = methods.join(', ');
    const error = allow
      ? methodNotAllowed(method, methods, requestBelow(method, event.rawPath))
      : new ApiError('not_found', 'There is no such path; /openapi.json lists all paths.');
    const response = errorResponse(event, error);
    if (method === 'OPTIONS' && allow)
      return { statusCode: 204, headers: { Allow: allow, 'X-Request-Id': event.requestContext.requestId } };
    return answerHead(event, response);
  });
  return withStartCheck(
    (event: ApiEvent, context: LambdaContext) => handler(event, context),
    async () => undefined,
  );
}

/** Returns the request with this method at a fixed path directly below a path, such as `POST /api/webhooks/register`. */
function requestBelow(method: string, path: string): string | undefined {
  const below = routes
    .filter(([, row]) => row.method === method && row.path.startsWith(`${path}/`))
    .find(([, row]) => /^[^:/]+$/.test(row.path.slice(path.length + 1)));
  return below && `${method} ${below[1].path}`;
}
