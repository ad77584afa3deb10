import { type App, app, openApp } from './app.ts';
import { environment } from './contract/deployment.ts';
import { kmsClient, openKms } from './kms/sealing.ts';

let opened: App | undefined;

/**
 * The app of a function that seals or opens webhook secrets. It is no part of `app.ts`, so that only those functions
 * carry the client of KMS; where the deployment names no key of KMS it is the app of all others, with its key file.
 */
export function keyedApp(): App {
  const keyId = process.env[environment.secretsKeyId];
  if (!keyId) return app();
  opened ??= openApp({ environment: process.env, clock: Date.now, secrets: openKms(kmsClient(), keyId, Date.now) });
  return opened;
}
