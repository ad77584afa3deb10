import { useSyncExternalStore } from 'react';
import { type TokenLink, tokenLinkIn } from './token-link.ts';

/** The link that was opened, until `closeTokenLink` is called. */
let opened: TokenLink | undefined;

/** What is called when a link is opened or closed. */
const subscribers = new Set<() => void>();

function setOpened(link: TokenLink | undefined): void {
  opened = link;
  for (const changed of subscribers) changed();
}

/**
 * Takes the link that the page was opened with, and each that is opened later, when only the fragment changes. Removes them
 * from the address bar and the history. Is called before the router exists, which would show a screen for them.
 */
export function takeTokenLinks(): void {
  opened = tokenLinkIn(location.hash);
  if (opened) history.replaceState(null, '', location.pathname);
  // The listener of the router is called after this one.
  addEventListener('popstate', (event) => {
    if (tokenLinkIn(location.hash)) event.stopImmediatePropagation();
  });
  addEventListener('hashchange', ({ oldURL, newURL }) => {
    // The event of an earlier change can come when the address has already changed again.
    const link = newURL === location.href ? tokenLinkIn(location.hash) : undefined;
    if (!link) return;
    // The screen stays, and so does its address.
    const { hash } = new URL(oldURL);
    history.replaceState(null, '', location.pathname + (tokenLinkIn(hash) ? '' : hash));
    // While the user is asked about a link, further ones are dropped.
    if (!opened) setOpened(link);
  });
}

/** Returns the link that was opened. A component that calls it is rendered again when that changes. */
export function useTokenLink(): TokenLink | undefined {
  return useSyncExternalStore(subscribe, () => opened);
}

function subscribe(changed: () => void): () => void {
  subscribers.add(changed);
  return () => subscribers.delete(changed);
}

/** Forgets the link that was opened: nothing remains to be done for it. */
export function closeTokenLink(): void {
  setOpened(undefined);
}
