import type { MiddlewareObj } from '@middy/core';
import type { Context } from '../context/context.ts';
import { ApiError } from '../contract/errors.ts';
import { type ApiEvent, type ApiResult, header } from '../http/api-event.ts';

/**
 * Returns the middleware that responds with 403 to web pages of origins that are not allowed, as the transport demands
 * against DNS rebinding. Only browsers send an origin.
 */
export function checkOrigin(getContext: () => Context): MiddlewareObj<ApiEvent, ApiResult> {
  return {
    before: ({ event }) => {
      const origin = header(event, 'Origin');
      if (origin === undefined || getContext().allowedOrigins(origin)) return;
      throw new ApiError(
        'origin_not_allowed',
        `Web pages of ${origin.slice(0, 256)} may not call this service; allow the origin in CORS_ORIGINS or corsOrigins.`,
      );
    },
  };
}
