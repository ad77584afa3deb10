import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync('docs/architecture.md', 'utf8');

it('the page on the architecture lists every key family, and no other', () => {
  const source = readFileSync('lib/table/keys.ts', 'utf8');
  const families = [...source.matchAll(/(?:partition|scope)\(organization, '(\w+)'/g)].map(([, family]) => family);
  const [, section = ''] = page.split('\n### Keys\n');
  const rows = (section.split('\n#')[0] as string).matchAll(/^\|[^|]+\|([^|]+)\|/gm);
  const facets = [...rows].slice(2).map(([, facet = '']) => facet);
  const listed = facets.flatMap((facet) => [...facet.matchAll(/`([A-Z]+)/g)].map(([, family]) => family));
  // Counters are keyed by the family of what they count.
  expect(new Set(listed)).toEqual(new Set([...families, 'C']));
});
