import { useState } from 'react';
import type { TaskStatus } from '../../../client/operations.ts';
import { readStored, store } from '../../storage.ts';

/** Returns whether the user has collapsed a column, which the browser remembers, and a function that changes it. */
export function useIsCollapsed(status: TaskStatus): [isCollapsed: boolean, toggle: () => void] {
  const storageKey = `crewboard.collapsed.${status}`;
  const [isCollapsed, setCollapsed] = useState(() => readStored('localStorage', storageKey) !== undefined);
  const toggle = () => {
    store('localStorage', storageKey, isCollapsed ? undefined : 'true');
    setCollapsed(!isCollapsed);
  };
  return [isCollapsed, toggle];
}
