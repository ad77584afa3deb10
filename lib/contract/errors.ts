/** All error codes of the API, each with its HTTP status. The OpenAPI document lists them as an enum. */
export const errorStatus = {
  invalid_json: 400,
  validation_failed: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  system_agent: 403,
  not_author: 403,
  origin_not_allowed: 403,
  not_found: 404,
  method_not_allowed: 405,
  name_taken: 409,
  has_dependents: 409,
  dependency_cycle: 409,
  agent_not_active: 409,
  task_blocked: 409,
  task_claimed: 409,
  task_not_open: 409,
  task_not_in_review: 409,
  claim_lost: 409,
  execution_running: 409,
  delegation_cycle: 409,
  delegation_too_deep: 409,
  execution_finished: 409,
  improvement_in_progress: 409,
  delivery_in_progress: 409,
  webhook_paused: 409,
  recovery_in_progress: 409,
  recovery_completed: 409,
  request_in_progress: 409,
  limit_reached: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unknown_reference: 422,
  range_too_large: 422,
  reserved_name: 422,
  url_not_allowed: 422,
  self_delegation: 422,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

/** An error code of the API. */
export type ErrorCode = keyof typeof errorStatus;

/** The codes of the entries of `details` in an error response. */
export const detailCodes = [
  'required',
  'unknown_field',
  'read_only',
  'invalid_type',
  'invalid_value',
  'not_found',
  'blocking',
  'cycle',
  'limit',
] as const;

/**
 * One problem of a request. `path` is a dotted path (`dependsOn.0`) or the name of a query parameter or header. The
 * detail of `task_claimed` has the worker that holds the claim, and until when (ISO 8601).
 */
export type ErrorDetail = {
  path: string;
  code: (typeof detailCodes)[number];
  message: string;
  worker?: string;
  expiresAt?: string;
};

/** The maximum number of `details` in a response; the rest is cut off. */
export const detailsLimit = 20;

/**
 * An error that the API reports to its caller; `lib/http/middleware/envelope.ts` turns it into the error response. Any other error
 * is a bug or an outage and leads to `internal_error` without details.
 */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    details: readonly ErrorDetail[] = [],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.code = code;
    this.details = details.slice(0, detailsLimit);
    this.headers = headers;
  }

  /** The HTTP status of the error code. */
  get status(): number {
    return errorStatus[this.code];
  }
}

/** A kind of resource that a path names. */
export type Resource =
  | 'agent'
  | 'claim'
  | 'comment'
  | 'delivery'
  | 'event'
  | 'execution'
  | 'prompt'
  | 'recovery'
  | 'skill'
  | 'task'
  | 'webhook';

/**
 * Returns the error for a resource that is absent, belongs to another organization, or has a malformed id: the response
 * is the same.
 */
export function notFound(resource: Resource): ApiError {
  return new ApiError('not_found', `The organization has no such ${resource}; check the path.`);
}

/** The second half of the message of an error after which the outcome of the request is unknown. */
export const outcomeUnknown =
  'it is not known whether the request was processed, in whole or in part. ' +
  'Read the resource before you repeat the request, or repeat a POST with the same Idempotency-Key.';
