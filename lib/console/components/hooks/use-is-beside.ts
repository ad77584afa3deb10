import { useSyncExternalStore } from 'react';

/** The screens that have room for a panel beside the other content. */
const wide = matchMedia('(min-width: 1280px)');

function subscribe(changed: () => void): () => void {
  wide.addEventListener('change', changed);
  return () => wide.removeEventListener('change', changed);
}

/** Returns whether a side panel is beside the other content. On a smaller screen it covers the content. */
export function useIsBeside(): boolean {
  return useSyncExternalStore(subscribe, () => wide.matches);
}
