import { useEffect, useRef } from 'react';
import { useSession } from '../session.ts';
import { isCharacter, isPressed, type KeyName, type KeyPlace, keyLabels, keyRow } from './key-table.ts';
import { areSingleKeysOn, useSingleKeys } from './single-keys.ts';

/** Where characters are typed or choose something. A checkbox is none of them. */
const typing = 'input:not([type=checkbox], [type=radio]), select, textarea, [role=menu], [role=listbox]';

/**
 * Calls a function when a key of the table is pressed in its place, outside of fields and menus. A key whose scope the token does
 * not have does nothing.
 */
export function useKey(
  name: KeyName,
  isEnabled: boolean,
  press: (event: KeyboardEvent, target: Element) => void,
): void {
  const { me } = useSession();
  const { scope, place } = keyRow(name);
  const isListening = isEnabled && (scope === undefined || me.scopes.includes(scope));
  const latest = useRef(press);
  latest.current = press;
  useEffect(() => {
    if (!isListening) return;
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !isPressed(name, event)) return;
      if (isCharacter(event) && !areSingleKeysOn()) return;
      const target = event.target as Element;
      if (target.closest(typing) || (place && !isIn(place, target))) return;
      event.preventDefault();
      latest.current(event, target);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [name, place, isListening]);
}

/** Returns whether a key that is pressed on an element belongs to a place. */
function isIn(place: KeyPlace, target: Element): boolean {
  const front = [...document.querySelectorAll('[role=dialog]')].at(-1);
  const isOnPage = front === undefined || front.matches('.beside');
  const isInPanel = front?.matches('.side-panel') === true;
  const isOnCard = isOnPage && target.closest('[data-card]') !== null;
  switch (place) {
    case 'page':
      return isOnPage;
    case 'panel':
      return isInPanel;
    case 'page or panel':
      return isOnPage || isInPanel;
    case 'card':
      return isOnCard;
    case 'task':
      return isOnCard || isInPanel;
  }
}

/** Whether the user presses ⌘ in place of Ctrl. */
export const isMac = /^(Mac|iP)/.test(navigator.platform);

/** Returns the attributes of a button that does the same as a letter; none while such keys are off. */
export function useShortcut(name: KeyName): { title?: string; 'aria-keyshortcuts'?: string } {
  if (!useSingleKeys()) return {};
  const [label] = keyLabels(name, isMac);
  return { title: label, 'aria-keyshortcuts': label };
}
