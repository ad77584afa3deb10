import { type Scope, useSession } from './session.ts';

/** The screens of the navigation, with the scopes that they need. */
const screens = [
  { to: '/', label: 'Overview', scopes: [] },
  { to: '/board', label: 'Board', scopes: ['tasks:read'] },
  { to: '/runs', label: 'Runs', scopes: ['agents:read'] },
  { to: '/agents', label: 'Agents', scopes: ['agents:read'] },
  { to: '/webhooks', label: 'Webhooks', scopes: ['webhooks:read'] },
  { to: '/events', label: 'Events', scopes: ['webhooks:read'] },
] as const satisfies readonly {
  to: string;
  label: string;
  scopes: readonly Scope[];
}[];

/** Returns the screens for which the token has the scopes. */
export function useScreens() {
  const { me } = useSession();
  return screens.filter(({ scopes }) => scopes.every((scope: Scope) => me.scopes.includes(scope)));
}
