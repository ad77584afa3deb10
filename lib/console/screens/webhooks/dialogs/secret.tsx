import type { ReactNode } from 'react';
import { CopyButton } from '../copy-button.tsx';

/** Returns a new secret of 256 random bits, in the format that libraries of Standard Webhooks accept. */
export function createSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** Shows a new secret once. No response of the API contains it, so it is lost when the dialog is closed. */
export function NewSecret({ secret, children }: { secret: string; children: ReactNode }) {
  return (
    <div className="form">
      {children}
      <div className="secret">
        <code>{secret}</code>
        <CopyButton label="Copy the secret" text={secret} />
      </div>
      <p className="muted">It is shown only now. Store it where the receiver verifies signatures.</p>
    </div>
  );
}
