import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Notices } from './components/notices.tsx';
import { createQueryClient } from './queries.ts';
import { createConsoleRouter } from './router.tsx';
import { openSession, type Session, SessionContext, storeToken, takeToken } from './session.ts';
import { SignIn } from './sign-in.tsx';

/** The console: the sign-in page until the service has accepted a token, then the screens. */
export function App() {
  const [token, setToken] = useState(takeToken);
  const [session, setSession] = useState<Session>();
  const [problem, setProblem] = useState<string>();

  const signOut = useCallback((message?: string) => {
    storeToken(undefined);
    setToken(undefined);
    setSession(undefined);
    setProblem(message);
  }, []);

  useEffect(() => {
    if (token === undefined) return;
    let current = true;
    openSession(token).then(
      (opened) => {
        if (!current) return;
        storeToken(token);
        setSession(opened);
      },
      (error: Error) => {
        if (current) signOut(error.message);
      },
    );
    return () => {
      current = false;
    };
  }, [token, signOut]);

  // A link with a token can be opened in a tab that already shows the console: only the fragment changes then.
  useEffect(() => {
    const read = () => {
      if (!location.hash.startsWith('#token=')) return;
      setSession(undefined);
      setToken(takeToken());
    };
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);

  if (!session)
    return (
      <SignIn
        problem={problem}
        busy={token !== undefined}
        signIn={(entered) => {
          setProblem(undefined);
          setToken(entered);
        }}
      />
    );
  return <Screens key={session.token} session={session} signOut={signOut} />;
}

function Screens({ session, signOut }: { session: Session; signOut: (message?: string) => void }) {
  const queries = useMemo(() => createQueryClient(signOut), [signOut]);
  const router = useMemo(() => createConsoleRouter(() => signOut()), [signOut]);
  return (
    <SessionContext value={session}>
      <QueryClientProvider client={queries}>
        <Notices>
          <RouterProvider router={router} />
        </Notices>
      </QueryClientProvider>
    </SessionContext>
  );
}
