/**
 * The closed list of what a caller can be refused, and the status each refusal answers with.
 * The OpenAPI document publishes it as an enum; nothing else may answer with an error code.
 */
export const errorStatus = {
  invalid_json: 400,
  validation_failed: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  system_agent: 403,
  not_found: 404,
  method_not_allowed: 405,
  name_taken: 409,
  has_dependents: 409,
  dependency_cycle: 409,
  agent_not_active: 409,
  task_blocked: 409,
  delegation_cycle: 409,
  delegation_too_deep: 409,
  improvement_in_progress: 409,
  request_in_progress: 409,
  limit_reached: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unknown_reference: 422,
  reserved_name: 422,
  url_not_allowed: 422,
  self_delegation: 422,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const;

/** A code of the closed list. */
export type ErrorCode = keyof typeof errorStatus;

/** Codes of single faults inside a refusal's `details`. */
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

/** One fault of a request: a dotted path (`dependsOn.0`), a query parameter or header by its name. */
export type ErrorDetail = { path: string; code: (typeof detailCodes)[number]; message: string };

/** More details than this are cut: the first ones are enough to act on. */
export const detailsLimit = 20;

/**
 * An expected "no" to a caller: thrown by decisions and stores, turned into the error envelope by the edge.
 * What is not a `ApiError` is an error of ours and answers `internal_error` without saying more.
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

  /** The HTTP status of this refusal's code. */
  get status(): number {
    return errorStatus[this.code];
  }
}

/** The refusal for what is absent, another organization's, or cannot be an id of its kind: one answer for all three. */
export function notFound(): ApiError {
  return new ApiError('not_found', 'There is no such resource.');
}

/** The end of a message that cannot say whether a request was carried out: what is known, and what a caller can do. */
export const outcomeUnknown =
  'it is not known whether the request was carried out, in whole or in part. ' +
  'Read the resource before you repeat the request, or repeat a POST with the same Idempotency-Key.';
