import { describe, expect, it } from 'vitest';
import { endpointListSource, rowsWithoutWords } from '../../scripts/endpoint-list.ts';

const words = (name: string) => `export const ${name}Reference = () => ({ description: 'Words.' });\n`;
const bare = (name: string) => `export const ${name} = endpoint({\n  method: 'GET',\n});\n`;
const row = (name: string) => bare(name) + words(name);

/** The rows that a list has, in its order. */
const listed = (source: string) =>
  [...source.matchAll(/^ {2}(\w+): (\w+)\.\1,$/gm)].map(([, name, file]) => [name, file]);

describe('the list of endpoints', () => {
  it('has every row of every file, in the order of the files and of the rows in them', () => {
    const source = endpointListSource({ webhooks: row('listWebhooks'), tasks: row('listTasks') + row('createTask') });
    expect(listed(source)).toEqual([
      ['listTasks', 'tasks'],
      ['createTask', 'tasks'],
      ['listWebhooks', 'webhooks'],
    ]);
  });

  it('has the words of each row beside it', () => {
    const source = endpointListSource({ 'agent-metrics': row('getMetrics') });
    expect(source).toContain("import * as agentMetrics from './agent-metrics.ts';");
    expect(source).toContain('  getMetrics: agentMetrics.getMetrics,');
    expect(source).toContain('  getMetrics: agentMetrics.getMetricsReference,');
  });

  it('has a file that it does not know behind the others', () => {
    const source = endpointListSource({ alerts: row('listAlerts'), open: row('health') });
    expect(listed(source)).toEqual([
      ['health', 'open'],
      ['listAlerts', 'alerts'],
    ]);
  });

  it('imports no file without a row', () => {
    const source = endpointListSource({ shapes: 'export const count = 1;\n', open: row('health') });
    expect(source).not.toContain('shapes');
  });
});

describe('the rows without words', () => {
  it('are named, with what to export and where', () => {
    expect(rowsWithoutWords({ open: row('health') + bare('docs'), tasks: row('listTasks') })).toEqual([
      'The row docs has no words; export docsReference in lib/contract/open.ts.',
    ]);
  });
});
