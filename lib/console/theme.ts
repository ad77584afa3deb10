import { useSyncExternalStore } from 'react';
import { readStored, store } from './storage.ts';

/** The themes that the user can choose. `system` follows the setting of the device. */
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const storageKey = 'crewboard.theme';

/** What is called when the user has chosen a theme. */
const subscribers = new Set<() => void>();

/** Returns the chosen theme. */
function chosenTheme(): Theme {
  const stored = readStored('localStorage', storageKey);
  return themes.find((theme) => theme === stored) ?? 'system';
}

/** Returns the chosen theme. A component that calls it is rendered again when another one is chosen. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, chosenTheme);
}

function subscribe(changed: () => void): () => void {
  subscribers.add(changed);
  return () => subscribers.delete(changed);
}

/** Applies the chosen theme to the page. The style sheet follows the device if the attribute is absent. */
export function applyTheme(): void {
  const theme = chosenTheme();
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Stores and applies a theme. */
export function chooseTheme(theme: Theme): void {
  store('localStorage', storageKey, theme);
  applyTheme();
  for (const changed of subscribers) changed();
}
