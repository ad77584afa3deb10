import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readScript } from '../../infra/local/model/model-script.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { createTemporaryFolder } from '../temporary-files.ts';
import { blocksOf, firstColumnOf, sectionOf } from './markdown.ts';

const page = readFileSync('docs/local-service.md', 'utf8');

describe('the page on running locally', () => {
  it('lists every setting of the local service, and no other', () => {
    const read = new Set<string>();
    readSettings(new Proxy({}, { get: (_: object, name: string) => void read.add(name) }));
    const listed = firstColumnOf(sectionOf(page, '## Settings of the local service'));
    expect(listed.toSorted()).toEqual([...read].map((name) => `\`${name}\``).toSorted());
  });

  it('has rules that the simulator accepts', () => {
    const file = join(createTemporaryFolder(), 'script.json');
    const [rules = ''] = blocksOf(sectionOf(page, '## Rules for the simulator'), 'json');
    writeFileSync(file, rules);
    expect(readScript(file)).toHaveLength(3);
  });
});
