/** What a failed call means to whoever asked. The sentences are fixed: Bedrock's own name accounts and ARNs. */
export type Failure = { kind: 'throttled' } | { kind: 'faulty' | 'failed'; error: string };

const failed = (error: string): Failure => ({ kind: 'failed', error });
const faulty = (error: string) => ({ kind: 'faulty' as const, error });

const throttled: Failure = { kind: 'throttled' };
const noAccess = failed('This deployment has no access to the model.');
/** The agent's model is not among `allowedModels`. */
export const notAllowed = failed('This deployment does not allow the model of the agent; give it an allowed one.');

const unknownModel = failed('There is no such model, or it cannot be used from here.');
const notTaken = failed('The model did not take the request; the work may be too long for it.');
const tooSlow = faulty('The model took too long to answer.');
const broken = faulty('The model could not be reached, or had a fault.');

/** An answer that is none: cut off, or not what Converse answers. */
export const unreadable = faulty('The answer of the model could not be read.');

/** The meaning of an error by its name, which Bedrock spells with a small letter in some answers. */
const named = new Map<string, Failure>([
  ['throttlingexception', throttled],
  ['toomanyrequestsexception', throttled],
  ['servicequotaexceededexception', throttled],
  ['modelnotreadyexception', throttled],
  ['resourcenotfoundexception', unknownModel],
  ['modeltimeoutexception', tooSlow],
  ['modelerrorexception', broken],
  // Before any request: there are no credentials, or they could not be renewed.
  ['credentialsprovidererror', noAccess],
  ['tokenprovidererror', noAccess],
  ['expiredtokenexception', noAccess],
  ['unrecognizedclientexception', noAccess],
]);

/** Bedrock has no name of its own for a model that it does not know, or that is offered by inference profiles only. */
const namesTheModel = /model (identifier|id)\b|on-demand throughput/i;

/** Reads an error of the Bedrock client. What is not known is taken for a fault that may pass. */
export function failureOf(error: unknown): Failure {
  const { name, message, $metadata } = (error instanceof Error ? error : new Error()) as Error & {
    $metadata?: { httpStatusCode?: number };
  };
  const known = name.toLowerCase();
  if (known === 'validationexception') return namesTheModel.test(message) ? unknownModel : notTaken;
  return named.get(known) ?? failureByStatus($metadata?.httpStatusCode);
}

/** What something between here and Bedrock may answer, which knows none of its names. */
function failureByStatus(status: number | undefined): Failure {
  if (status === undefined) return broken;
  if (status < 300) return unreadable;
  if (status === 429) return throttled;
  if (status === 401 || status === 403) return noAccess;
  if (status === 408 || status === 504) return tooSlow;
  return status >= 400 && status < 500 && status !== 424 ? notTaken : broken;
}
