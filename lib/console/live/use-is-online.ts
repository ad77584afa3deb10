import { useSyncExternalStore } from 'react';

function subscribe(changed: () => void): () => void {
  const names = ['online', 'offline'] as const;
  for (const name of names) addEventListener(name, changed);
  return () => {
    for (const name of names) removeEventListener(name, changed);
  };
}

/** Returns whether the device has a network. The service can still be out of reach. */
export function useIsOnline(): boolean {
  return useSyncExternalStore(subscribe, () => navigator.onLine);
}
