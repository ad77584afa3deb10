import { type ReactNode, useEffect, useState } from 'react';
import { messageOf } from '../components/format/message-of.ts';
import { useNotices } from '../components/notices.tsx';
import { openSession, type Session, useSession } from '../session.ts';
import { closeTokenLink } from './opened-token-link.ts';
import type { TokenLink } from './token-link.ts';

type Props = { link: TokenLink | undefined; replace: (session: Session) => void };

/** Handles a link that somebody opens who is signed in: it asks before another token replaces that of the session. */
export function SecondLink({ link, replace }: Props) {
  const { token } = useSession();
  const { fail } = useNotices();
  const [question, setQuestion] = useState<ReactNode>();
  useEffect(() => {
    if (!link) return setQuestion(undefined);
    const refuse = (reason: string) => {
      fail(`You are signed in as before. ${reason}`);
      closeTokenLink();
    };
    if ('problem' in link) return refuse(link.problem);
    if (link.token === token) return closeTokenLink();
    let isAwaited = true;
    Promise.all([openSession(link.token), import('./link-question.tsx')]).then(
      ([offered, { LinkQuestion }]) => {
        if (isAwaited)
          setQuestion(<LinkQuestion offered={offered} keep={closeTokenLink} replace={() => replace(offered)} />);
      },
      (error) => {
        if (isAwaited) refuse(`The link does not sign in: ${messageOf(error)}`);
      },
    );
    return () => {
      isAwaited = false;
    };
  }, [link, token, fail, replace]);
  return question;
}
