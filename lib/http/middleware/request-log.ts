import type { Request } from '@middy/core';
import { log } from '../../context/log.ts';
import { ApiError } from '../../contract/errors.ts';
import type { ApiEvent, ApiResult } from '../api-event.ts';

/**
 * Returns the middy hooks that log one structured line for each request: its route, status, duration and token id. The
 * line has no content of the request, since this can contain private texts and secrets.
 */
export function requestLog(route: string) {
  const startedAt = new WeakMap<Request, number>();
  return {
    requestStart: (request: Request) => {
      startedAt.set(request, performance.now());
    },
    requestEnd: (request: Request) => {
      const { event, response, error } = request as Request<ApiEvent, ApiResult>;
      const status = response?.statusCode ?? 500;
      const line = {
        requestId: event.requestContext.requestId,
        route,
        method: event.requestContext.http.method,
        path: event.rawPath,
        status,
        durationMs: Math.round((performance.now() - (startedAt.get(request) as number)) * 10) / 10,
        organization: event.state?.caller?.organization,
        tokenId: event.state?.caller?.tokenId,
        ...(error instanceof ApiError && { code: error.code }),
      };
      if (error && status >= 500) log().error('request', { ...line, error: error as Error });
      else log().info('request', line);
    },
  };
}
