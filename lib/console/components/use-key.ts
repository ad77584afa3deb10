import { useEffect, useRef } from 'react';

/**
 * Calls a function when a letter is pressed without a modifier, outside of fields and menus: on the page while no dialog is
 * open but a panel beside it, or in the side panel while no dialog is in front of it.
 */
export function useKey(letter: string, where: 'page' | 'side-panel', isEnabled: boolean, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (!isEnabled) return;
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== letter || event.ctrlKey || event.metaKey || event.altKey) return;
      if ((event.target as Element).closest('input, select, textarea, [role=menu]')) return;
      const front = [...document.querySelectorAll('[role=dialog]')].at(-1);
      if (where === 'page' ? front && !front.matches('.beside') : !front?.matches(`.${where}`)) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [letter, where, isEnabled]);
}
