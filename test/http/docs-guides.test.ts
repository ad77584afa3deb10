import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readGuides } from '../../lib/http/docs/guides.ts';
import { openApiDocument } from '../../lib/openapi/document.ts';

const guides = readGuides();
const linksIn = (text: string) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string);
const anchors = ['#description/introduction', ...guides.map(({ tag }) => `#tag/${tag}`)];

it.each(guides)('the guide "$title" links only to parts of the page and to other sites', ({ text }) => {
  const local = linksIn(text).filter((target) => !target.startsWith('https:'));
  expect(anchors).toEqual(expect.arrayContaining(local));
});

it.each(guides)('the guide "$title" names files of the repository by their paths', ({ text }) => {
  const paths = [...text.matchAll(/\(`(docs\/[^`]+)`\)/g)].map(([, path]) => path as string);
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

it('the document links to each guide on the page', () => {
  const { info, tags } = openApiDocument() as { info: { description: string }; tags: { description: string }[] };
  const linked = linksIn([info, ...tags].map(({ description }) => description).join('\n'));
  for (const { tag } of guides) expect(linked).toContain(`/docs#tag/${tag}`);
});
