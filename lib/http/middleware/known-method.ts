import type { MiddlewareObj } from '@middy/core';
import type { Endpoint } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import type { ApiEvent, ApiResult } from '../api-event.ts';

/**
 * Returns the middleware that rejects a method that a fixed path does not have. API Gateway passes such a request to the endpoint
 * beside it, whose parameter also matches: `PATCH /api/kanban-tasks/counts` to the endpoint that updates a task.
 */
export function knownMethod({ method, fixedBeside = {} }: Endpoint): MiddlewareObj<ApiEvent, ApiResult> {
  return {
    before: ({ event: { rawPath } }) => {
      const segment = rawPath.slice(rawPath.lastIndexOf('/') + 1);
      if (Object.hasOwn(fixedBeside, segment)) throw methodNotAllowed(method, [fixedBeside[segment] as string]);
    },
  };
}

/**
 * Returns the error for a method that a path does not have.
 *
 * @param methods the methods of the path
 * @param elsewhere the request with this method that the caller may have meant
 */
export function methodNotAllowed(method: string, methods: readonly string[], elsewhere?: string): ApiError {
  const instead = elsewhere ? `${methods.join(' or ')}, or ${elsewhere}` : methods.join(' or ');
  return new ApiError('method_not_allowed', `${method} is not allowed here; use ${instead}.`, [], {
    Allow: methods.join(', '),
  });
}
