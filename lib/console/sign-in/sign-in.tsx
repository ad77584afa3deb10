import { type FormEvent, useId } from 'react';
import { useTitle } from '../components/hooks/use-title.ts';

type Props = {
  problem: string | undefined;
  busy: boolean;
  signIn: (token: string) => void;
  /** Signs in with the token of this tab, which the service could not be asked about; absent without one. */
  retry: (() => void) | undefined;
};

/** The sign-in page: all that the console shows without a valid token. */
export function SignIn({ problem, busy, signIn, retry }: Props) {
  const id = useId();
  useTitle('Sign in');
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token')).trim();
    if (token !== '') signIn(token);
  }
  return (
    <main className="sign-in">
      <form onSubmit={submit} className="panel">
        <h1>Crewboard</h1>
        <label htmlFor={id}>Access token</label>
        <input
          id={id}
          name="token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="crew_…"
          required
          // biome-ignore lint/a11y/noAutofocus: the page has nothing else to focus
          autoFocus
          aria-describedby={`${id}-help`}
          aria-invalid={problem !== undefined}
        />
        <p id={`${id}-help`} className="muted">
          On a terminal, <code>npm start</code> prints a token and a link that signs in; the token is also in{' '}
          <code>.crewboard/token</code>. In AWS, operators create one with{' '}
          <code>npm run crewboard -- token create</code>. This tab keeps it until it is closed.
        </p>
        {problem !== undefined && (
          <p role="alert" className="failure">
            {problem}
          </p>
        )}
        <button type="submit" className="primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
        {retry && problem !== undefined && (
          <button type="button" disabled={busy} onClick={retry}>
            Try again with the token of this tab
          </button>
        )}
      </form>
    </main>
  );
}
