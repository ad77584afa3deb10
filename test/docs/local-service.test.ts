import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { converseClient } from '../../infra/local/model/converse-client.ts';
import { readScript } from '../../infra/local/model/model-script.ts';
import { createSimulator } from '../../infra/local/model/simulator.ts';
import { readLocalSettings } from '../../infra/local/settings.ts';
import { createConverseModel, type Turn } from '../../lib/model/converse.ts';
import { createTemporaryFolder } from '../temporary-files.ts';
import { blocksOf, firstColumnOf, sectionOf } from './markdown.ts';

const page = readFileSync('docs/local-service.md', 'utf8');

describe('the page on running locally', () => {
  it('lists every setting of the local service, and no other', () => {
    const read = new Set<string>();
    readLocalSettings(new Proxy({}, { get: (_: object, name: string) => void read.add(name) }));
    const listed = firstColumnOf(sectionOf(page, '## Settings of the local service'));
    expect(listed.toSorted()).toEqual([...read].map((name) => `\`${name}\``).toSorted());
  });

  it('has rules that the simulator accepts', () => {
    const file = join(createTemporaryFolder(), 'script.json');
    const scripts = blocksOf(sectionOf(page, '## Rules for the simulator'), 'json');
    const numbers = scripts.map((rules) => {
      writeFileSync(file, rules);
      return readScript(file).length;
    });
    expect(numbers).toEqual([3, 4]);
  });

  it('has rules that play an agent with tools', async () => {
    const file = join(createTemporaryFolder(), 'script.json');
    writeFileSync(file, blocksOf(sectionOf(page, '### Rules with tools'), 'json')[0] ?? '');
    const simulator = createSimulator({ defaultModel: 'm', latencyMs: 0, rules: readScript(file) });
    const ask = createConverseModel(converseClient(simulator));
    const tools = ['create_task', 'get_task'].map((name) => ({
      ...{ name, description: name, inputSchema: { type: 'object' } },
    }));
    const { signal } = new AbortController();
    const turns: Turn[] = [];
    const done: unknown[] = [];
    for (;;) {
      const user = 'Plan the release.';
      const answer = await ask({ model: 'm', system: '', user, turns: [...turns], tools, maxTokens: 100, signal });
      if (answer.kind !== 'tools') {
        done.push(answer.kind === 'text' ? answer.text : answer);
        break;
      }
      done.push(...answer.calls.map(({ name, input }) => ({ name, input })));
      const results = answer.calls.map(({ id }) => ({ id, output: '{"data":{"id":"tk_1"}}', isError: false }));
      turns.push({ content: answer.content, results });
    }
    expect(done).toEqual([
      { name: 'create_task', input: { title: 'Write the notes' } },
      { name: 'get_task', input: { id: 'tk_1' } },
      'Created tk_1.',
    ]);
  });
});
