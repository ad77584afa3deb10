import { KMSClient } from '@aws-sdk/client-kms';
import { callLimitConfig, callLimitsOf } from '../aws/call-limits.ts';
import { clientConfig } from '../aws/client-config.ts';
import { type Context, createContext, processContext } from '../context.ts';
import { environment } from '../deployment/environment.ts';
import { openKms } from '../kms/sealing.ts';

let opened: Context | undefined;

/**
 * The base of a function that seals or opens webhook secrets, apart from the other so that only those functions carry
 * the client of KMS. Where the deployment names no key of KMS it is the base of all others, with its key file.
 */
export function keyedBase(): Context {
  const keyId = process.env[environment.secretsKeyId];
  if (!keyId) return processContext();
  opened ??= createContext({
    environment: process.env,
    clock: Date.now,
    secrets: openKms(kmsClient(), keyId, Date.now),
  });
  return opened;
}

/** The client of KMS; `endpoint` points at a local engine. */
export function kmsClient(endpoint?: string, limits = callLimitsOf('kms', endpoint)): KMSClient {
  return new KMSClient({ ...clientConfig(endpoint), ...callLimitConfig(limits) });
}
