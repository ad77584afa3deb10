import { ConfirmDialog } from '../components/dialogs/confirm.tsx';
import { type Session, useSession } from '../session.ts';

type Props = {
  /** The session of the token in the link. */
  offered: Session;
  /** Called to stay signed in as before, also by Escape. */
  keep: () => void;
  replace: () => void;
};

/** Asks before the token of a link replaces that of the session. The maker of the link can read what is entered after that. */
export function LinkQuestion({ offered, keep, replace }: Props) {
  const current = useSession();
  return (
    <ConfirmDialog
      title="Replace your access token?"
      open
      onClose={keep}
      label="Replace the token"
      keep="Keep my token"
      isDestructive
      act={async () => replace()}
    >
      <p>
        You opened a link with another access token. If you replace yours, this tab shows the organization of the link,
        and what you enter goes there. Do that only if you know who made the link.
      </p>
      <dl className="facts">
        <dt>You are signed in to</dt>
        <Account session={current} />
        <dt>The link is for</dt>
        <Account session={offered} />
      </dl>
    </ConfirmDialog>
  );
}

/** The organization and the token of a session. Their names are texts of others. */
function Account({ session: { me } }: { session: Session }) {
  return (
    <dd>
      <strong>
        <bdi>{me.organization}</bdi>
      </strong>
      , token <code>{me.token.id}</code> {me.token.name !== undefined && <bdi>({me.token.name})</bdi>}
    </dd>
  );
}
