import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import lock from '../../package-lock.json' with { type: 'json' };

const changelog = readFileSync('CHANGELOG.md', 'utf8');
const headings = [...changelog.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
const [unreleased, newest = '', ...older] = headings;

describe('the changelog', () => {
  it('begins with the unreleased changes, then has the released versions with their dates, newest first', () => {
    expect(unreleased).toBe('[Unreleased]');
    const released = [newest, ...older];
    for (const heading of released) expect(heading).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/);
    const numbers = released.map((heading) => heading.match(/\d+\.\d+\.\d+/)?.[0] ?? '');
    expect(numbers).toEqual(numbers.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true })));
  });

  it('has the version of the package as its newest', () => {
    expect(newest).toContain(`[${manifest.version}]`);
    expect([lock.version, lock.packages[''].version]).toEqual([manifest.version, manifest.version]);
  });

  it('groups the changes of a version by the kinds of Keep a Changelog', () => {
    const kinds = [...changelog.matchAll(/^### (.+)$/gm)].map(([, kind]) => kind);
    expect(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']).toEqual(
      expect.arrayContaining([...new Set(kinds)]),
    );
  });
});
