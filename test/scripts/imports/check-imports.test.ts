import { describe, expect, it } from 'vitest';
import { wrongImports } from '../../../scripts/imports/check-imports.ts';
import { importTable } from '../../../scripts/imports/import-table.ts';
import { importing } from '../../lint/lint.ts';

/** Imports that the table does not allow, by folder. */
const forbidden = {
  'lib/contract': [
    '../table/access/keys.ts',
    'node:fs',
    '@aws-sdk/client-dynamodb',
    '../names/queues.ts',
    '../openapi/document.ts',
  ],
  'lib/contract/requests': ['../../http/serve.ts'],
  'lib/names': ['../settings/limits.ts', '@aws-sdk/client-sqs'],
  'lib/settings': ['../table/access/keys.ts', '@aws-sdk/client-sqs', '../sender/sender.ts'],
  'lib/openapi': ['../http/serve.ts'],
  'lib/client': ['../contract/webhooks/events.ts', 'undici', 'node:crypto'],
  'lib/console': ['../contract/ids.ts', '../http/serve.ts', 'node:fs'],
  'lib/console/screens/board': ['../../../contract/ids.ts', '../../../../infra/texts.ts'],
  'lib/aws': ['../contract/ids.ts', '../table/access/keys.ts', '@aws-sdk/client-dynamodb'],
  'lib/sender': ['../workers/consume.ts', '../webhooks/webhooks.ts', '@aws-sdk/client-sqs'],
  'lib/model': ['../table/access/keys.ts', '../agents/agents.ts'],
  'lib/table': [
    '../tasks/tasks.ts',
    '../http/serve.ts',
    '../context/log.ts',
    '../../infra/cli/reconcile/differences.ts',
  ],
  'lib/table/tasks': ['../../tasks/tasks.ts', '../../http/serve.ts'],
  'lib/context': ['../http/serve.ts', '../webhooks/webhooks.ts', '../agents/agents.ts', '../workers/consume.ts'],
  'lib/tasks': ['../http/serve.ts', '@aws-sdk/lib-dynamodb', '../model/converse.ts'],
  'lib/webhooks': ['../workers/consume.ts', '../tasks/tasks.ts', '../model/converse.ts'],
  'lib/agents': ['aws-lambda', '../executions/executions.ts', '../tasks/tasks.ts', '../model/converse.ts'],
  'lib/executions': ['@aws-sdk/client-bedrock-runtime', '../improvements/improvements.ts', '../webhooks/webhooks.ts'],
  'lib/improvements': ['../model/bedrock.ts', '../tasks/tasks.ts'],
  'lib/tools': ['../http/serve.ts', '../mcp/server.ts', '../webhooks/webhooks.ts', '@aws-sdk/lib-dynamodb'],
  'lib/mcp': ['../table/access/keys.ts', '../tasks/tasks.ts', '../../functions/open/health.ts'],
  'lib/http': [
    '../workers/consume.ts',
    '../../infra/main.ts',
    '../mcp/server.ts',
    '../tools/tool-list.ts',
    '../tasks/tasks.ts',
  ],
  'lib/http/middleware': ['../../workers/consume.ts', '../../../infra/main.ts'],
  'lib/workers': ['../http/serve.ts', '../webhooks/webhooks.ts', '../mcp/server.ts'],
  'functions/mcp': ['../../lib/table/access/keys.ts', '../../infra/main.ts'],
  'functions/open': ['./health.ts', '../webhooks/get-webhook.ts', '../../infra/main.ts'],
  scripts: ['../infra/aws/settings.ts', '../lib/table/access/keys.ts', '../test/service.ts'],
  'scripts/pack': ['../../infra/cli/program.ts'],
  'docs/examples': ['../../lib/contract/webhooks/events.ts', '../../infra/main.ts', './b.ts'],
  'infra/aws': ['../../lib/table/access/keys.ts', '../local/deployment.ts', '../cli/program.ts', '@aws-sdk/client-sqs'],
  'infra/aws/api': ['../../../lib/table/access/keys.ts', '../../local/deployment.ts'],
  'infra/aws/deployed': ['../app.ts', '../../cli/program.ts'],
  'infra/local': ['../aws/app.ts', '../cli/program.ts', '../terminal/welcome.ts'],
  'infra/local/queues': ['../../aws/app.ts', '../../cli/program.ts'],
  'infra/cli': ['../aws/app.ts'],
  'infra/cli/reconcile': ['../../../lib/tasks/tasks.ts'],
  'infra/cli/commands': ['../../aws/app.ts', '../../../functions/open/health.ts'],
  'infra/cli/api': [
    '@aws-sdk/client-sqs',
    '../../problem.ts',
    '../../../lib/table/access/client.ts',
    '../commands/token.ts',
    '../deployments.ts',
  ],
};

/** Returns the messages about the imports of files, without those about entries that these files do not need. */
function messagesOf(...files: [path: string, text: string][]): string[] {
  return wrongImports(importTable, files).filter((message) => !message.startsWith('No file'));
}

describe('the table of imports', () => {
  const probes = Object.entries(forbidden).flatMap(([place, sources]) =>
    sources.map((source) => [place.endsWith('.ts') ? place : `${place}/any.ts`, source] as const),
  );

  it.each(probes)('does not let %s import %s', (file, source) => {
    expect(messagesOf([file, importing(source)])).toEqual([
      expect.stringMatching(
        /^\S+ imports \S+, which the row '\S+' of scripts\/imports\/import-table\.ts does not allow\.$/,
      ),
    ]);
  });

  it('lets files import those of their own folder, and functions only what is not a function', () => {
    expect(messagesOf(['lib/http/middleware/any.ts', importing('../serve.ts')])).toEqual([]);
    expect(messagesOf(['functions/open/any.ts', importing('./health.ts')])).toHaveLength(1);
    expect(messagesOf(['functions/mcp/mcp.ts', importing('../open/health.ts')])).toEqual([]);
  });
});

describe('the check of imports', () => {
  const table = { 'lib/low': 'node:*', 'lib/high': 'lib/low/open.ts @scope/* package', 'lib/high/special.ts': '' };
  const wrong = (path: string, text: string) =>
    wrongImports(table, [[path, text]]).filter((message) => !message.startsWith('No file'));

  it.each([
    ["import { thing } from '../high/b.ts';"],
    ["import '../high/b.ts';"],
    ["import type { Thing } from '../high/b.ts';"],
    ["import { type Thing } from '../high/b.ts';"],
    ["export { thing } from '../high/b.ts';"],
    ["export type { Thing } from '../high/b.ts';"],
    ["export * from '../high/b.ts';"],
    ["export * as things from '../high/b.ts';"],
    ["const thing = await import('../high/b.ts');"],
    ['const thing = await import(`../high/b.ts`);'],
    [`const thing = (name: string) => import(\`../high/\${name}.ts\`);`],
    ["type Thing = import('../high/b.ts').Thing;"],
    ["type Things = typeof import('../high/b.ts');"],
    ["import things = require('../high/b.ts');"],
    ["import { thing } from '../low/../high/b.ts';"],
    ['const thing = (path: string) => import(path);'],
    ["import { thing } from 'package';"],
    ["import { thing } from '@scope/package/file';"],
  ])('reads %s', (text) => {
    expect(wrong('lib/low/a.ts', text)).toHaveLength(1);
  });

  it.each([
    ["import { readFileSync } from 'node:fs';", 'lib/low/a.ts'],
    ["import { thing } from './b.ts';", 'lib/low/a.ts'],
    ["import { thing } from '../low/open.ts';", 'lib/high/a.ts'],
    ["import { thing } from '@scope/package/file';", 'lib/high/a.ts'],
    ["import { thing } from 'package/file';", 'lib/high/a.ts'],
    ["import { thing } from './special.ts';", 'lib/high/a.ts'],
    ['const text = "import { thing } from \'../high/b.ts\'";', 'lib/low/a.ts'],
  ])('accepts %s in %s', (text, file) => {
    expect(wrong(file, text)).toEqual([]);
  });

  it('says which row does not allow an import', () => {
    expect(wrong('lib/high/a.ts', importing('../low/closed.ts'))).toEqual([
      "lib/high/a.ts imports lib/low/closed.ts, which the row 'lib/high' of scripts/imports/import-table.ts does not allow.",
    ]);
  });

  it('takes the row of the longest name', () => {
    expect(wrong('lib/high/special.ts', importing('./a.ts'))).toHaveLength(1);
  });

  it('says which folder has no row', () => {
    expect(wrong('lib/new/a.ts', '')).toEqual([
      'lib/new/a.ts has no row in scripts/imports/import-table.ts: add one for its folder.',
    ]);
  });

  it('says which entry no file needs', () => {
    const files: [string, string][] = [
      ['lib/low/a.ts', importing('node:fs')],
      ['lib/high/a.ts', importing('package') + importing('../low/open.ts')],
    ];
    expect(wrongImports(table, files)).toEqual([
      "No file of the row 'lib/high' imports @scope/*: take it out of scripts/imports/import-table.ts.",
    ]);
  });

  it('names a file that is not TypeScript', () => {
    expect(() => wrong('lib/low/a.ts', 'import {')).toThrow('lib/low/a.ts: ');
  });
});
