import type { Operations } from '../../client/operations.ts';

/**
 * Where a key works:
 *
 * - `page`: while no dialog is open, but for a panel beside the page
 * - `panel`: in the side panel
 * - `page or panel`: in both
 * - `card`: on a focused card
 * - `task`: on a focused card, else in the side panel
 *
 * A key without a place works wherever its part of the console is.
 */
export type KeyPlace = 'page' | 'panel' | 'page or panel' | 'card' | 'task';

/** A key: what it does, and where. */
type Row = {
  screen: string;
  /** The names of the keys as events have them, in small letters. One of them is pressed. */
  keys: readonly string[];
  /** Whether Ctrl is held, or ⌘ on a Mac. */
  withControl?: true;
  /** Whether Shift is held; if unset, the key works with and without it. */
  withShift?: boolean;
  place?: KeyPlace;
  /** The scope that the key needs. */
  scope?: Operations['getMe']['data']['scopes'][number];
  does: string;
};

const [board, panel] = ['Board', 'Panel of a task'];
const arrows = ['arrowup', 'arrowdown', 'arrowleft', 'arrowright'] as const;
const changes = { place: 'task', scope: 'tasks:write' } as const;

/** All keys of the console, in the order of their list. */
export const keyTable = {
  listKeys: { screen: 'All screens', keys: ['?'], place: 'page or panel', does: 'List the keys' },
  commandMenu: {
    screen: 'All screens',
    keys: ['k'],
    withControl: true,
    withShift: false,
    does: 'Open the command menu',
  },
  submit: { screen: 'All screens', keys: ['enter'], withControl: true, does: 'Submit the dialog or the form' },
  close: { screen: 'All screens', keys: ['escape'], does: 'Close the dialog, the menu or the panel' },
  createTask: { screen: board, keys: ['c'], place: 'page', scope: 'tasks:write', does: 'Create a task' },
  otherCard: { screen: board, keys: arrows, withShift: false, place: 'card', does: 'Go to another card' },
  openCard: { screen: board, keys: ['enter'], does: 'Open the panel of the card' },
  changeStatus: { screen: board, keys: ['s'], ...changes, does: 'Change the status of the card or the panel' },
  changePriority: { screen: board, keys: ['p'], ...changes, does: 'Change its priority' },
  assign: { screen: board, keys: ['a'], ...changes, does: 'Assign it to an agent' },
  edit: { screen: board, keys: ['e'], ...changes, does: 'Edit it' },
  select: {
    screen: board,
    keys: ['x'],
    withShift: false,
    place: 'card',
    scope: 'tasks:write',
    does: 'Select the card, or deselect it',
  },
  selectTo: {
    screen: board,
    keys: ['x', 'arrowup', 'arrowdown'],
    withShift: true,
    place: 'card',
    scope: 'tasks:write',
    does: 'Select all cards up to this one, or the next one',
  },
  clearSelection: { screen: board, keys: ['escape'], place: 'page', scope: 'tasks:write', does: 'Clear the selection' },
  taskBelow: { screen: panel, keys: ['j'], place: 'panel', does: 'Open the task below in the column' },
  taskAbove: { screen: panel, keys: ['k'], place: 'panel', does: 'Open the task above' },
} as const satisfies Record<string, Row>;

/** The name of a key in the table. */
export type KeyName = keyof typeof keyTable;

/** Returns the row of a key. */
export function keyRow(name: KeyName): Row {
  return keyTable[name];
}

/** What a keyboard event says of the pressed keys. */
type Pressed = { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean; shiftKey: boolean };

/** Returns whether a key of the table is pressed. */
export function isPressed(name: KeyName, { key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): boolean {
  const { keys, withControl = false, withShift = shiftKey } = keyRow(name);
  return keys.includes(key.toLowerCase()) && (ctrlKey || metaKey) === withControl && shiftKey === withShift && !altKey;
}

/** Returns whether the pressed key types a character. Speech input can press it by accident, so the user can turn such keys off. */
export function isCharacter({ key, ctrlKey, metaKey }: Pressed): boolean {
  return key.length === 1 && !ctrlKey && !metaKey;
}

/** The labels of keys that are no characters. */
const labels: Readonly<Record<string, string>> = {
  enter: 'Enter',
  escape: 'Escape',
  arrowup: '↑',
  arrowdown: '↓',
  arrowleft: '←',
  arrowright: '→',
};

/** Returns the labels of the keys of a row, one of which is pressed. */
export function keyLabels(name: KeyName, isMac: boolean): readonly string[] {
  const { keys, withControl, withShift } = keyRow(name);
  const prefix = `${withControl ? (isMac ? '⌘' : 'Ctrl+') : ''}${withShift ? 'Shift+' : ''}`;
  return keys.map((key) => prefix + (labels[key] ?? key.toUpperCase()));
}
