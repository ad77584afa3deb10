import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { type Session, useSession } from '../../session.ts';
import { readStored, store } from '../../storage.ts';

/** The texts of drafts by their keys, also if the browser does not store them. */
const drafts = new Map<string, string | undefined>();
const listeners = new Set<() => void>();

/**
 * Returns what the user has entered into a form and not saved, and a function that keeps it until the tab is closed; `undefined`
 * drops it. So Escape, another screen or a reload loses nothing. A draft is shown only to the token that it was entered with.
 *
 * @param form names the form, with the id of what it changes
 */
export function useDraft<Draft>(form: string): [draft: Draft | undefined, keep: (draft: Draft | undefined) => void] {
  const { me } = useSession();
  const key = keyOf(me, form);
  const text = useSyncExternalStore(subscribe, () => textOf(key));
  const draft = useMemo(() => (text === undefined ? undefined : (JSON.parse(text) as Draft)), [text]);
  const keep = useCallback(
    (next: Draft | undefined) => write(key, next === undefined ? undefined : JSON.stringify(next)),
    [key],
  );
  return [draft, keep];
}

/** Returns whether a form has a draft. */
export function useHasDraft(form: string): boolean {
  const { me } = useSession();
  return useSyncExternalStore(subscribe, () => textOf(keyOf(me, form)) !== undefined);
}

function keyOf({ organization, token }: Session['me'], form: string): string {
  return `crewboard.draft/${organization}/${token.id}/${form}`;
}

function textOf(key: string): string | undefined {
  if (!drafts.has(key)) drafts.set(key, readStored('sessionStorage', key));
  return drafts.get(key);
}

function write(key: string, text: string | undefined): void {
  drafts.set(key, text);
  store('sessionStorage', key, text);
  for (const changed of listeners) changed();
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}
