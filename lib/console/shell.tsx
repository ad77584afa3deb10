import { Link, Outlet, useLocation, useRouteContext } from '@tanstack/react-router';
import { AccountMenu } from './account-menu.tsx';
import { CommandButton } from './command-menu/command-button.tsx';
import { MissingScreen } from './components/dialogs/missing-scope.tsx';
import { useNoticesOf } from './components/notices.tsx';
import { ScreenIcon } from './components/screen-icon.tsx';
import { Ago, DataTimeContext } from './components/time.tsx';
import { useKey } from './keys/use-key.ts';
import { useKeysDialog } from './keys/use-keys-dialog.tsx';
import { useSubmitKey } from './keys/use-submit-key.ts';
import { type Live, useLive } from './live/live.ts';
import { OutageBar } from './live/outage-bar.tsx';
import { screenOf, useMissingScopes, useScreens } from './navigation.ts';
import { useSession } from './session.ts';

/** The frame of all screens: navigation, the state of the follower, and the menu of the account. */
export function Shell() {
  const { me } = useSession();
  const { signOut } = useRouteContext({ from: '__root__' });
  const screens = useScreens();
  const live = useLive();
  const isReady = live.updatedAt > 0 || live.outage !== undefined;
  const { pathname } = useLocation();
  useNoticesOf(pathname);
  useKey('listKeys', true, useKeysDialog());
  useSubmitKey();
  const screen = screenOf(pathname);
  const missing = useMissingScopes()(screen.scopes);
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      {live.outage && <OutageBar outage={live.outage} retry={live.retry} />}
      <header className="side">
        <strong className="brand">Crewboard</strong>
        <CommandButton />
        <nav aria-label="Screens">
          {screens.map(({ to, label, icon }) => (
            <Link key={to} to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
              <ScreenIcon name={icon} />
              {label}
            </Link>
          ))}
          <a href="/docs">
            <ScreenIcon name="reference" />
            <span>
              API<span className="if-desktop"> reference</span>
            </span>
          </a>
        </nav>
        <div className="account">
          <LiveState {...live} />
          <AccountMenu organization={me.organization} signOut={signOut} />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <DataTimeContext value={live.outage?.since}>
          {isReady && (missing.length > 0 ? <MissingScreen title={screen.label} scopes={missing} /> : <Outlet />)}
        </DataTimeContext>
      </main>
    </div>
  );
}

/** Shows how old the data on the screen is. In an outage, a bar above the screen says more. */
function LiveState({ updatedAt, outage }: Live) {
  if (outage) return <p className="live failing">Not updated</p>;
  return (
    <p className="live muted">
      {updatedAt > 0 ? (
        <>
          Updated <Ago at={new Date(updatedAt).toISOString()} />
        </>
      ) : (
        'Loading…'
      )}
    </p>
  );
}
