import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { CrewboardError } from '../client/client.ts';
import { KeptDialog } from './components/dialogs/kept-dialog.tsx';
import { messageOf } from './components/format/message-of.ts';
import { Notices } from './components/notices.tsx';
import { createQueryClient } from './queries.ts';
import { createConsoleRouter } from './router.tsx';
import { openSession, type Session, SessionContext, storedToken, storeToken } from './session.ts';
import { closeTokenLink, useTokenLink } from './sign-in/opened-token-link.ts';
import { SecondLink } from './sign-in/second-link.tsx';
import { SignIn } from './sign-in/sign-in.tsx';

/** The console: the sign-in page until the service has accepted a token, then the screens. */
export function App() {
  // The token that the service is asked about. It becomes that of the session if the service accepts it.
  const [token, setToken] = useState(storedToken);
  const [session, setSession] = useState<Session>();
  const [problem, setProblem] = useState<string>();
  const link = useTokenLink();

  const enter = useCallback((accepted: Session) => {
    storeToken(accepted.token);
    setToken(undefined);
    setSession(accepted);
  }, []);

  const leave = useCallback((message?: string) => {
    storeToken(undefined);
    setToken(undefined);
    setSession(undefined);
    setProblem(message);
  }, []);

  useEffect(() => {
    if (token === undefined) return;
    let isCurrent = true;
    openSession(token).then(
      (accepted) => isCurrent && enter(accepted),
      (error) => {
        if (!isCurrent) return;
        if (error instanceof CrewboardError && error.code === 'unauthorized') return leave(messageOf(error));
        // An outage says nothing about the token.
        setToken(undefined);
        setProblem(messageOf(error));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [token, enter, leave]);

  // Without a session, the link signs in at once.
  useEffect(() => {
    if (!link || token !== undefined || session) return;
    closeTokenLink();
    if ('token' in link) setToken(link.token);
    setProblem('token' in link ? undefined : link.problem);
  }, [link, token, session]);

  const signOut = useCallback(
    (message?: string) => {
      closeTokenLink();
      leave(message);
    },
    [leave],
  );

  const replace = useCallback(
    (accepted: Session) => {
      closeTokenLink();
      // The screen in the address is one of the other organization.
      history.replaceState(null, '', location.pathname);
      enter(accepted);
    },
    [enter],
  );

  if (!session)
    return (
      <SignIn
        problem={problem}
        busy={token !== undefined}
        retry={storedToken() === undefined ? undefined : () => setToken(storedToken())}
        signIn={(entered) => {
          setProblem(undefined);
          setToken(entered);
        }}
      />
    );
  return (
    <Screens key={session.token} session={session} signOut={signOut}>
      <SecondLink link={link} replace={replace} />
    </Screens>
  );
}

type ScreensProps = { session: Session; signOut: (message?: string) => void; children: ReactNode };

function Screens({ session, signOut, children }: ScreensProps) {
  const queries = useMemo(() => createQueryClient(signOut), [signOut]);
  const router = useMemo(() => createConsoleRouter(() => signOut()), [signOut]);
  return (
    <SessionContext value={session}>
      <QueryClientProvider client={queries}>
        <Notices>
          <KeptDialog>
            <RouterProvider router={router} />
            {children}
          </KeptDialog>
        </Notices>
      </QueryClientProvider>
    </SessionContext>
  );
}
