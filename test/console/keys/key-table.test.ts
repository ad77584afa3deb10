import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  isCharacter,
  isPressed,
  type KeyName,
  keyLabels,
  keyRow,
  keyTable,
} from '../../../lib/console/keys/key-table.ts';

const names = Object.keys(keyTable) as KeyName[];

/** Returns an event of a key without modifiers, or with these. */
const pressed = (key: string, modifiers: Partial<Parameters<typeof isPressed>[1]> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...modifiers,
});

describe('the table of keys', () => {
  it('recognizes a letter with Caps Lock, but not with Ctrl or Alt', () => {
    expect(isPressed('createTask', pressed('c'))).toBe(true);
    expect(isPressed('createTask', pressed('C'))).toBe(true);
    expect(isPressed('createTask', pressed('c', { ctrlKey: true }))).toBe(false);
    expect(isPressed('createTask', pressed('c', { altKey: true }))).toBe(false);
    expect(isPressed('listKeys', pressed('?', { shiftKey: true }))).toBe(true);
  });

  it('tells keys with Shift, and with Ctrl or ⌘, from those without', () => {
    const which = (event: ReturnType<typeof pressed>) => names.filter((name) => isPressed(name, event));
    expect(which(pressed('x'))).toEqual(['select']);
    expect(which(pressed('X', { shiftKey: true }))).toEqual(['selectTo']);
    expect(which(pressed('ArrowDown'))).toEqual(['otherCard']);
    expect(which(pressed('ArrowDown', { shiftKey: true }))).toEqual(['selectTo']);
    expect(which(pressed('k'))).toEqual(['taskAbove']);
    expect(which(pressed('k', { metaKey: true }))).toEqual(['commandMenu']);
    expect(which(pressed('Enter', { ctrlKey: true }))).toEqual(['submit']);
  });

  it('knows which keys type a character', () => {
    expect(isCharacter(pressed('?', { shiftKey: true }))).toBe(true);
    expect(isCharacter(pressed('ArrowDown', { shiftKey: true }))).toBe(false);
    expect(isCharacter(pressed('k', { ctrlKey: true }))).toBe(false);
  });

  it('is the table of the documentation', () => {
    const [section = ''] = readFileSync('docs/console.md', 'utf8').split('\n## Keys\n')[1]?.split('\n## ') ?? [];
    const rows = names.map((name) => {
      const { screen, does } = keyRow(name);
      const labels = keyLabels(name, false).map((label) => `\`${label}\``);
      return `| ${screen} | ${labels.join(' ')} | ${does} |`;
    });
    const documented = section.split('\n').filter((line) => line.startsWith('| '));
    expect(documented).toEqual(['| Screen | Keys | What they do |', ...rows]);
  });
});
