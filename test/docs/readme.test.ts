import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readScript } from '../../infra/local/model/model-script.ts';
import { readSettings } from '../../infra/local/settings.ts';
import type { Agent, Execution, Task } from '../../lib/client/operations.ts';
import { newFolder, startDeployment } from '../journeys/deployment.ts';

const page = readFileSync('README.md', 'utf8');

/** What stands under a heading of the second level. */
function sectionOf(heading: string): string {
  const [, section] = page.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`The page has no ${heading}.`);
  return section.split('\n## ')[0] as string;
}

/** The first block of code of a language in a section. */
function blockOf(heading: string, language: string): string {
  const [, block] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(sectionOf(heading)) ?? [];
  if (block === undefined) throw new Error(`${heading} has no block of ${language}.`);
  return block;
}

/** The names in the first facets of the table of a section. */
function firstCellsOf(heading: string): string[] {
  const rows = sectionOf(heading).match(/^\|.*$/gm) ?? [];
  return rows.slice(2).flatMap((row) => row.split('|')[1]?.match(/[\w./-]+(?=`)/g) ?? []);
}

it('the first session is answered as it is written', async () => {
  const service = await startDeployment();
  const commands = blockOf('A first session', 'sh')
    .replace('.crewboard/token', `${service.dataFolder}/token`)
    .replace('http://127.0.0.1:3000', service.url);
  expect(commands).toContain(service.url);
  // Each answer on a line of its own; and not a moment's sleep, but until the execution has ended.
  const script = `set -e
    curl() { command curl "$@"; echo; }
    sleep() { until curl -s $URL/api/agents/builder/executions/$RUN -H "Authorization: Bearer $TOKEN" |
      grep -q '"completedAt"'; do command sleep 0.05; done; }
    ${commands}`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', script], { timeout: 18_000 });
  expect(stderr).toBe('');
  const lines = stdout.split('\n').map((line) => line.trim());
  expect(lines).toContain('HTTP/1.1 200 OK');
  expect(lines).toContain('ETag: "2"');
  const [listed, moved, hired, worked, ...others] = lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  expect(others).toEqual([]);

  expect(listed).toMatchObject({ data: [{ title: 'Draw the landing page' }], pagination: { total: 1 } });
  expect(moved.data as Task).toMatchObject({ id: listed.data[0].id, status: 'done' });
  expect(hired.data as Agent).toMatchObject({ name: 'builder', displayName: 'Builder' });
  const gates = { selfTest: 'passed', qaReview: 'passed' };
  const execution = worked.data as Execution;
  expect(execution).toMatchObject({ status: 'completed', input: 'Build the landing page.', qualityGates: gates });
  expect(execution.output).toContain('simulator');
  const task = await service.api<Task>('GET', `/api/kanban-tasks/${execution.taskId}`);
  expect(task.body.data).toMatchObject({ title: 'Build it', status: 'up_for_review', blockedBy: [] });
});

describe('the README', () => {
  it('has every setting of the local service, and no other', () => {
    const asked = new Set<string>();
    const remembers = { get: (_: object, name: string) => void asked.add(name) };
    readSettings(new Proxy({}, remembers));
    const named = new Set(firstCellsOf('Settings of the local service'));
    expect([...asked].filter((name) => !named.has(name))).toEqual([]);
    expect([...named].filter((name) => !asked.has(name))).toEqual([]);
  });

  it('has rules for the simulator that the simulator takes', () => {
    const file = join(newFolder(), 'script.json');
    writeFileSync(file, blockOf('Settings of the local service', 'json'));
    expect(readScript(file)).toHaveLength(3);
  });

  it('says of every folder what it holds, and of none that there is not', () => {
    const named = firstCellsOf('Where things live');
    for (const name of named) expect(existsSync(name), name).toBe(true);
    const folders = readdirSync('lib', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(named).toEqual(expect.arrayContaining(folders.map(({ name }) => `lib/${name}`)));
  });

  it('links only what there is', () => {
    const targets = [...page.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target]) => target as string);
    expect(targets.length).toBeGreaterThan(5);
    for (const target of targets) expect(existsSync(target), target).toBe(true);
  });
});
