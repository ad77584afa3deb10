import type { Scope } from '../../session.ts';
import { Empty, PageHead } from '../page.tsx';
import { Modal } from './dialog.tsx';

type Props = {
  /** What needs the scopes, such as `Webhooks` or `Create a task`. */
  title: string;
  /** The scopes that the token does not have. */
  scopes: readonly Scope[];
};

/** Shown in place of a screen that the token may not read. */
export function MissingScreen({ title, scopes }: Props) {
  return (
    <>
      <PageHead title={title} />
      <Empty title="Your access token may not read this">
        <MissingScopes scopes={scopes} />
      </Empty>
    </>
  );
}

/** Shown in place of a dialog that a link opens and the token may not use. */
export function MissingDialog({ title, scopes, onClose }: Props & { onClose: () => void }) {
  return (
    <Modal title={title} open onClose={onClose}>
      <div className="form">
        <MissingScopes scopes={scopes} />
        <div className="actions">
          <button type="button" data-harmless onClick={onClose}>
            Close
          </button>
        </div>
      </div>
    </Modal>
  );
}

/** Says which scopes the token does not have, and what to do. */
export function MissingScopes({ scopes }: Pick<Props, 'scopes'>) {
  return (
    <p className="missing-scopes">
      Your access token does not have the {scopes.length === 1 ? 'scope' : 'scopes'}{' '}
      {scopes.map((scope, at) => (
        <span key={scope}>
          {at > 0 && ' and '}
          <code>{scope}</code>
        </span>
      ))}
      . Ask an operator for a token that has {scopes.length === 1 ? 'it' : 'them'}, and sign in again.
    </p>
  );
}
