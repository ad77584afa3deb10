import { type Scope, useSession } from './session.ts';

/** The screens of the navigation, with the scopes that they need. */
const screens = [
  { to: '/', label: 'Overview', icon: 'overview', scopes: [] },
  { to: '/board', label: 'Board', icon: 'board', scopes: ['tasks:read'] },
  { to: '/runs', label: 'Runs', icon: 'runs', scopes: ['agents:read'] },
  { to: '/agents', label: 'Agents', icon: 'agents', scopes: ['agents:read'] },
  { to: '/webhooks', label: 'Webhooks', icon: 'webhooks', scopes: ['webhooks:read'] },
  { to: '/events', label: 'Events', icon: 'events', scopes: ['webhooks:read'] },
] as const satisfies readonly {
  to: string;
  label: string;
  icon: string;
  scopes: readonly Scope[];
}[];

/** Returns the screens for which the token has the scopes. */
export function useScreens() {
  const missingOf = useMissingScopes();
  return screens.filter(({ scopes }) => missingOf(scopes).length === 0);
}

/** Returns the screen of the navigation that a path belongs to; the overview, if it belongs to no other one. */
export function screenOf(pathname: string): (typeof screens)[number] {
  return screens.find(({ to }) => to !== '/' && (pathname === to || pathname.startsWith(`${to}/`))) ?? screens[0];
}

/** Returns a function that returns which of some scopes the token does not have. */
export function useMissingScopes(): (scopes: readonly Scope[]) => readonly Scope[] {
  const { me } = useSession();
  return (scopes) => scopes.filter((scope) => !me.scopes.includes(scope));
}
