import { describe, expect, it } from 'vitest';
import { endpointListSource, rowsWithoutReference } from '../../scripts/endpoint-list.ts';

const reference = (name: string) => `export const ${name}Reference = () => ({ description: 'Text.' });\n`;
const bare = (name: string) => `export const ${name} = endpoint({\n  method: 'GET',\n});\n`;
const row = (name: string) => bare(name) + reference(name);

/** Returns the name and the file of each row in the source of a list, in its order. */
const listed = (source: string) =>
  [...source.matchAll(/^ {2}(\w+): (\w+)\.\1,$/gm)].map(([, name, file]) => [name, file]);

describe('the list of endpoints', () => {
  it('has all rows of all files, in the order of the files and of the rows, those of unknown files last', () => {
    const tasks = row('listTasks') + row('createTask');
    const source = endpointListSource({
      'alerts/alerts.ts': row('listAlerts'),
      'webhooks/webhooks.ts': row('listWebhooks'),
      'tasks/tasks.ts': tasks,
    });
    expect(listed(source)).toEqual([
      ['listTasks', 'tasks'],
      ['createTask', 'tasks'],
      ['listWebhooks', 'webhooks'],
      ['listAlerts', 'alerts'],
    ]);
  });

  it('has the API reference of each row, and does not import a file without a row', () => {
    const source = endpointListSource({
      'agents/agent-metrics.ts': row('getMetrics'),
      'shapes.ts': 'export const count = 1;\n',
    });
    expect(source).toContain("import * as agentMetrics from './agents/agent-metrics.ts';");
    expect(source).toContain('  getMetrics: agentMetrics.getMetrics,');
    expect(source).toContain('  getMetrics: agentMetrics.getMetricsReference,');
    expect(source).not.toContain('shapes');
  });
});

it('a row without an API reference is reported with the constant to export and its file', () => {
  expect(
    rowsWithoutReference({ 'open/open.ts': row('health') + bare('docs'), 'tasks/tasks.ts': row('listTasks') }),
  ).toEqual(['The row docs has no API reference; export docsReference in lib/contract/open/open.ts.']);
});
