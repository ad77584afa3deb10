import { type ReactNode, useEffect, useState } from 'react';
import { Modal } from '../../../components/dialogs/dialog.tsx';
import { CopyButton } from '../copy-button.tsx';

const prefix = 'whsec_';

/** Returns a new secret of 256 random bits, in the format that libraries of Standard Webhooks accept. */
export function createSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `${prefix}${btoa(String.fromCharCode(...bytes))}`;
}

/**
 * The dialog that shows a new secret once, masked until the user asks for it. No response of the API contains it, so only the user
 * closes the dialog, and the browser asks before it leaves the page.
 *
 * @param props.stored called when the user says that the secret is stored
 */
export function SecretDialog({
  secret,
  stored,
  children,
}: {
  secret: string;
  stored: () => void;
  children: ReactNode;
}) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
  return (
    <Modal title="Store the secret" open>
      <div className="form">
        {children}
        <div className="secret">
          <code>
            {isShown ? (
              secret
            ) : (
              <>
                {prefix}
                <span aria-hidden="true">{'•'.repeat(secret.length - prefix.length)}</span>
                <span className="visually-hidden">masked</span>
              </>
            )}
          </code>
          <button type="button" onClick={() => setShown(!isShown)}>
            {isShown ? 'Hide the secret' : 'Show the secret'}
          </button>
          <CopyButton label="Copy the secret" text={secret} />
        </div>
        <p className="muted">It is shown only now. Store it where the receiver verifies signatures.</p>
        <div className="actions">
          <button type="button" className="primary" onClick={stored}>
            I have stored it
          </button>
        </div>
      </div>
    </Modal>
  );
}
