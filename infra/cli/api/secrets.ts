import { randomBytes } from 'node:crypto';
import { Option } from '@commander-js/extra-typings';

/** Returns a new secret for signing deliveries, in the form of Standard Webhooks. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Returns the option `--secret`. */
export function secretOption(description: string) {
  return new Option('--secret <secret>', `${description}; the variable is safer`).env('WEBHOOK_SECRET');
}
