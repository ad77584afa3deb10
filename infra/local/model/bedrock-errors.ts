/**
 * The errors of Converse, each with its status and message
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, and the common errors of AWS).
 */
const errors = {
  AccessDeniedException: [403, "You don't have access to the model with the specified model ID."],
  ConflictException: [400, 'The request is in conflict with another.'],
  ExpiredTokenException: [403, 'The security token included in the request is expired'],
  InternalServerException: [500, 'The system encountered an unexpected error during processing.'],
  ModelErrorException: [424, 'The model returned an error.'],
  ModelNotReadyException: [429, 'The model is not ready for inference.'],
  ModelTimeoutException: [408, 'Model has timed out in processing the request.'],
  ResourceNotFoundException: [404, 'Could not resolve the model from the model identifier.'],
  ServiceQuotaExceededException: [400, 'Your request exceeds the service quota for your account.'],
  ServiceUnavailableException: [503, 'Bedrock is unable to process your request.'],
  ThrottlingException: [429, 'Too many requests, please wait before trying again.'],
  // Bedrock also uses this spelling.
  throttlingException: [429, 'Too many requests, please wait before trying again.'],
  UnrecognizedClientException: [403, 'The security token included in the request is invalid.'],
  ValidationException: [400, 'The request is not valid.'],
} as const satisfies Record<string, readonly [number, string]>;

/** The name of an error of Converse. */
export type BedrockError = keyof typeof errors;

/** The names of all errors. */
export const bedrockErrors = Object.keys(errors) as BedrockError[];

/** Returns the status and the message of an error. */
export function bedrockErrorOf(name: BedrockError): { status: number; message: string } {
  const [status, message] = errors[name];
  return { status, message };
}
