import { beforeAll, expect, it } from 'vitest';
import { filesThatFail, importing } from './lint.ts';

/** Imports against the arrows (docs/architecture.md#code), each in a separate file. */
const forbidden = [
  ['lib/contract/a.ts', '../table/keys.ts'],
  ['lib/contract/b.ts', 'node:fs'],
  ['lib/contract/c.ts', '@aws-sdk/client-dynamodb'],
  ['lib/contract/d.ts', '../deployment/queues.ts'],
  ['lib/contract/e.ts', '../openapi/document.ts'],
  ['lib/deployment/a.ts', '../table/keys.ts'],
  ['lib/deployment/b.ts', '@aws-sdk/client-sqs'],
  ['lib/aws/a.ts', '../contract/ids.ts'],
  ['lib/openapi/a.ts', '../http/serve.ts'],
  ['lib/client/a.ts', '../contract/events.ts'],
  ['lib/client/b.ts', './verify-webhook.ts'],
  ['lib/client/c.ts', 'undici'],
  ['lib/client/d.ts', 'node:http'],
  ['docs/examples/a.ts', '../../lib/contract/events.ts'],
  ['docs/examples/b.ts', '../../infra/local/main.ts'],
  ['docs/examples/c.ts', './b.ts'],
  ['lib/table/a.ts', '../tasks/tasks.ts'],
  ['lib/table/b.ts', '../http/serve.ts'],
  ['lib/table/d.ts', '../reconcile/differences.ts'],
  ['lib/model/a.ts', '../table/keys.ts'],
  ['lib/model/b.ts', '../agents/agents.ts'],
  ['lib/limits/a.ts', '../http/serve.ts'],
  ['lib/reconcile/a.ts', '../tasks/tasks.ts'],
  ['lib/tasks/a.ts', '../http/serve.ts'],
  ['lib/tasks/b.ts', '@aws-sdk/lib-dynamodb'],
  ['lib/tasks/d.ts', '../model/converse.ts'],
  ['lib/webhooks/a.ts', '../queue/consume.ts'],
  ['lib/webhooks/b.ts', '../tasks/tasks.ts'],
  ['lib/webhooks/c.ts', '../model/converse.ts'],
  ['lib/agents/a.ts', 'aws-lambda'],
  ['lib/agents/b.ts', '../executions/executions.ts'],
  ['lib/agents/c.ts', '../tasks/tasks.ts'],
  ['lib/agents/d.ts', '../model/converse.ts'],
  ['lib/executions/a.ts', '@aws-sdk/client-bedrock-runtime'],
  ['lib/executions/b.ts', '../improvements/improvements.ts'],
  ['lib/executions/c.ts', '../tasks/tasks.ts'],
  ['lib/improvements/a.ts', '../model/bedrock.ts'],
  ['lib/improvements/b.ts', '../tasks/tasks.ts'],
  ['lib/sqs/a.ts', '../table/keys.ts'],
  ['lib/context.ts', './http/serve.ts'],
  ['lib/http/a.ts', '../queue/consume.ts'],
  ['lib/http/b.ts', '../../infra/local/main.ts'],
  ['lib/queue/a.ts', '../http/serve.ts'],
  ['functions/open/a.ts', './health.ts'],
  ['functions/open/b.ts', '../webhooks/get-webhook.ts'],
  ['functions/open/c.ts', '../../infra/local/main.ts'],
  ['infra/aws/a.ts', '../../lib/table/keys.ts'],
  ['infra/aws/b.ts', '../local/main.ts'],
  ['infra/aws/api/a.ts', '../../../lib/table/keys.ts'],
  ['infra/aws/api/b.ts', '../../local/main.ts'],
  ['infra/local/a.ts', '../aws/app.ts'],
  ['infra/local/b.ts', '../cli/program.ts'],
  ['infra/local/queues/a.ts', '../../aws/app.ts'],
  ['infra/local/queues/b.ts', '../../cli/program.ts'],
  ['infra/cli/a.ts', '../aws/app.ts'],
  ['infra/cli/commands/a.ts', '../../aws/app.ts'],
  ['infra/cli/commands/b.ts', '../../../functions/open/health.ts'],
] as const;

/** Imports along the arrows. */
const allowed = [
  ['lib/contract/ok.ts', './shapes.ts'],
  ['lib/deployment/ok.ts', '../contract/ids.ts'],
  ['lib/openapi/ok.ts', '../contract/ids.ts'],
  ['lib/client/ok.ts', 'node:crypto'],
  ['docs/examples/ok.ts', '../../lib/client/client.ts'],
  ['docs/examples/fine.ts', 'express'],
  ['lib/table/ok.ts', '../contract/ids.ts'],
  ['lib/table/fine.ts', '../request-context.ts'],
  ['lib/table/aws.ts', '../aws/client-config.ts'],
  ['lib/model/ok.ts', '../deployment/environment.ts'],
  ['lib/limits/ok.ts', '../table/client.ts'],
  ['lib/reconcile/ok.ts', '../table/client.ts'],
  ['lib/limits/fine.ts', '../request-context.ts'],
  ['lib/tasks/ok.ts', '../table/tasks.ts'],
  ['lib/agents/ok.ts', '../table/agents.ts'],
  ['lib/executions/ok.ts', '../model/converse.ts'],
  ['lib/executions/fine.ts', '../agents/system-agents.ts'],
  ['lib/improvements/ok.ts', '../executions/ask-model.ts'],
  ['lib/webhooks/ok.ts', '../sqs/queue.ts'],
  ['lib/webhooks/fine.ts', '../request-context.ts'],
  ['lib/queue/ok.ts', '../table/keys.ts'],
  ['functions/open/ok.ts', '../../lib/http/serve.ts'],
  ['infra/aws/ok.ts', '../../lib/deployment/consumers.ts'],
  ['infra/aws/api/ok.ts', '../../../lib/deployment/consumers.ts'],
  ['infra/aws/ok.ts', '../../lib/agents/skill-catalogue.ts'],
  ['infra/aws/ok.ts', '../../lib/http/nearest-name.ts'],
  ['infra/aws/app.ts', '../cli/stack/deployed-data.ts'],
  ['infra/cli/ok.ts', '../local/running.ts'],
  ['infra/cli/commands/ok.ts', '../../aws/settings.ts'],
] as const;

let offending: Set<string>;

beforeAll(() => {
  const files = [...forbidden, ...allowed].map(([file, source]) => [file, importing(source)] as const);
  offending = filesThatFail('style/noRestrictedImports', files);
});

it.each(forbidden)('the linter reports in %s an import of %s', (file) => {
  expect(offending).toContain(file);
});

it.each(allowed)('the linter accepts in %s an import of %s', (file) => {
  expect(offending).not.toContain(file);
});
