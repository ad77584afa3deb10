import { useSyncExternalStore } from 'react';
import { readStored, store } from '../storage.ts';

const storageKey = 'crewboard.single-keys';

/** What is called when the user has turned the keys on or off. */
const subscribers = new Set<() => void>();

/** The setting of this page, also if the browser does not store it. */
let areOn: boolean | undefined;

function subscribe(changed: () => void): () => void {
  subscribers.add(changed);
  return () => subscribers.delete(changed);
}

/** Returns whether keys without Ctrl that type a character do something, such as `C`. They do, unless the user turns them off. */
export function areSingleKeysOn(): boolean {
  areOn ??= readStored('localStorage', storageKey) !== 'off';
  return areOn;
}

/** Returns what `areSingleKeysOn` returns. A component that calls it is rendered again when the user changes it. */
export function useSingleKeys(): boolean {
  return useSyncExternalStore(subscribe, areSingleKeysOn);
}

/** Turns the keys that type a character on or off, for all tabs that are opened later too. */
export function turnSingleKeys(on: boolean): void {
  areOn = on;
  store('localStorage', storageKey, on ? undefined : 'off');
  for (const changed of subscribers) changed();
}
