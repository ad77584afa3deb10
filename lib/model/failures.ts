/**
 * A failure of a call for its caller. The sentences are fixed, because messages of Bedrock contain accounts and ARNs.
 */
export type Failure = { kind: 'throttled' } | { kind: 'faulty' | 'failed'; error: string };

/** An error of a local model server whose message has no secret: callers get the message itself. */
export class ModelServerError extends Error {
  override name = 'ModelServerError';
  /** Whether asking again does not help. */
  readonly isPermanent: boolean;
  constructor(message: string, { isPermanent = false } = {}) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

const failed = (error: string): Failure => ({ kind: 'failed', error });
const faulty = (error: string) => ({ kind: 'faulty' as const, error });

const throttled: Failure = { kind: 'throttled' };
const noAccess = failed('This deployment has no access to the model.');
/** The failure of a model that is not in `allowedModels`. */
export const notAllowed = failed('This deployment does not allow the model of the agent; give it an allowed one.');
const unknownModel = failed('There is no such model, or it cannot be used from here.');
const rejected = failed('The model rejected the request.');
const tooLong = failed('The input is too long for the model.');
const noTools = failed('The model cannot use tools; give the agent another model, or no capabilities.');
const tooSlow = faulty('The model took too long to answer.');
const broken = faulty('The model could not be reached, or had a fault.');

/** The failure of a response that is incomplete or not in the format of Converse. */
export const unreadableAnswer = faulty('The answer of the model could not be read.');

/** Failures by the name of the error in lower case. Bedrock writes the first letter in upper or lower case. */
const failuresByName = new Map<string, Failure>([
  ['throttlingexception', throttled],
  ['toomanyrequestsexception', throttled],
  ['servicequotaexceededexception', throttled],
  ['modelnotreadyexception', throttled],
  ['serviceunavailableexception', throttled],
  ['resourcenotfoundexception', unknownModel],
  ['modeltimeoutexception', tooSlow],
  ['modelerrorexception', broken],
  // No request was sent: there are no credentials, or they could not be renewed.
  ['credentialsprovidererror', noAccess],
  ['tokenprovidererror', noAccess],
  ['expiredtokenexception', noAccess],
  ['unrecognizedclientexception', noAccess],
]);

/** Messages for a model that does not exist or needs an inference profile. Bedrock has no error name for these. */
const namesTheModel = /model (identifier|id)\b|on-demand throughput/i;

/** Messages for an input that is too long. Bedrock has no error name for it. */
const namesLength =
  /too long|too many (?:input )?tokens|context (?:length|window)|(?:input|prompt).{0,40}(?:exceed|too large)/i;

/** The message for a model that cannot use tools. */
const namesTools = /support tool use/i;

/** Returns the failure of an error of the Bedrock client. An unknown error is a temporary fault. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ModelServerError) return (error.isPermanent ? failed : faulty)(error.message);
  const { name, message, $metadata } = (error instanceof Error ? error : new Error()) as Error & {
    $metadata?: { httpStatusCode?: number };
  };
  const lowerName = name.toLowerCase();
  if (lowerName === 'validationexception') {
    if (namesTools.test(message)) return noTools;
    if (namesTheModel.test(message)) return unknownModel;
    return namesLength.test(message) ? tooLong : rejected;
  }
  return failuresByName.get(lowerName) ?? failureByStatus($metadata?.httpStatusCode);
}

/** Returns the failure of a response without an error name, for example of a proxy. */
function failureByStatus(status: number | undefined): Failure {
  if (status === undefined) return broken;
  if (status < 300) return unreadableAnswer;
  if (status === 429 || status === 503 || status === 529) return throttled;
  if (status === 401 || status === 403) return noAccess;
  if (status === 408 || status === 504) return tooSlow;
  return status >= 400 && status < 500 && status !== 424 ? rejected : broken;
}
