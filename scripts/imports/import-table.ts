/**
 * What the files of each folder may import beside the files of that folder: folders and files of the project, packages,
 * and modules of Node.js. The row of a file is that of the longest name that is the file or a folder above it. A `*` at
 * the end of an entry stands for the rest of a name.
 *
 * A row whose name ends in `/*` is one for each file below that folder: these files do not import each other. `(computed)`
 * stands for paths that are known only when the code runs.
 *
 * Each entry is needed: `npm run check` names an import without an entry, and an entry without an import.
 */
export const importTable: Readonly<Record<string, string>> = {
  // Without I/O, and without Node.js where browsers run it.
  'lib/contract': 'valibot',
  'lib/deployment': 'lib/contract valibot',
  'lib/openapi': 'lib/contract valibot @valibot/to-json-schema',
  'lib/requests': 'lib/contract valibot leven',
  'lib/client': '',
  'lib/console': 'lib/client react react-dom @base-ui/react @tanstack/* @atlaskit/* marked diff uplot',

  // What talks to AWS and to models.
  'lib/aws': '',
  'lib/batching': 'node:*',
  'lib/sqs': 'lib/aws lib/batching lib/deployment @aws-sdk/client-sqs',
  'lib/kms': 'lib/aws @aws-sdk/client-kms',
  'lib/model':
    'lib/aws lib/contract lib/deployment node:* valibot @aws-sdk/client-bedrock-runtime @smithy/node-http-handler',
  'lib/table': 'lib/aws lib/batching lib/contract lib/deployment lib/request-context.ts node:* @aws-sdk/*',

  // The behaviour, by noun.
  'lib/search-words.ts': '',
  'lib/agents': 'lib/context.ts lib/contract lib/search-words.ts lib/table node:* js-yaml valibot',
  'lib/tasks':
    'lib/batching lib/context.ts lib/contract lib/deployment lib/request-context.ts lib/search-words.ts lib/sqs lib/table node:*',
  'lib/webhooks':
    'lib/batching lib/context.ts lib/contract lib/deployment lib/kms lib/request-context.ts lib/sqs lib/table node:* ipaddr.js',
  'lib/executions':
    'lib/agents lib/context.ts lib/contract lib/deployment lib/model lib/request-context.ts lib/sqs lib/table lib/tasks node:*',
  'lib/improvements': 'lib/agents lib/context.ts lib/contract lib/executions lib/table valibot',
  'lib/reconcile': 'lib/contract lib/table node:* @aws-sdk/lib-dynamodb',
  'lib/start-checks': 'lib/aws lib/deployment lib/log.ts node:* @aws-sdk/client-lambda aws-lambda',
  'lib/tools': 'lib/agents lib/contract lib/executions lib/model lib/openapi lib/requests lib/table lib/tasks valibot',

  // How requests and messages reach it.
  'lib/request-context.ts': 'lib/contract node:*',
  'lib/log.ts': '@aws-lambda-powertools/logger',
  'lib/request-counts.ts': '',
  'lib/limits': 'lib/contract lib/deployment lib/log.ts lib/request-context.ts lib/request-counts.ts lib/table',
  'lib/context.ts': 'lib/contract lib/deployment lib/log.ts lib/request-counts.ts lib/sqs lib/table lib/webhooks node:*',
  'lib/http':
    'lib/agents lib/context.ts lib/contract lib/deployment lib/limits lib/log.ts lib/openapi lib/request-context.ts lib/requests lib/table node:* @middy/core aws-lambda esbuild',
  'lib/mcp':
    'lib/context.ts lib/contract lib/http lib/log.ts lib/requests lib/tools @middy/core @modelcontextprotocol/server aws-lambda',
  'lib/queue':
    'lib/context.ts lib/contract lib/deployment lib/log.ts lib/model lib/request-context.ts lib/sqs lib/table valibot @aws-lambda-powertools/* @aws-sdk/* aws-lambda',
  'functions/*':
    'lib/agents lib/contract lib/deployment lib/executions lib/http lib/improvements lib/model lib/queue lib/table lib/tasks lib/tools lib/webhooks',
  'functions/mcp/*': 'functions lib/contract lib/mcp',
  'functions/open/health.ts': 'lib/context.ts lib/contract lib/deployment lib/http',
  'functions/deployment/*': 'lib/start-checks',

  // What runs, deploys and operates it.
  'infra/texts.ts': 'lib/client',
  'infra/local':
    'functions infra/texts.ts lib/aws lib/client lib/context.ts lib/contract lib/deployment lib/executions lib/http lib/log.ts lib/model lib/sqs lib/table lib/webhooks node:* @aws-sdk/* aws-lambda valibot',
  'infra/local/main.ts': 'infra/cli infra/local lib/http lib/log.ts esbuild',
  'infra/aws':
    'lib/agents/skill-catalogue.ts lib/contract lib/deployment lib/http/console/console-files.ts lib/http/docs/guides.ts lib/requests/nearest-name.ts lib/tools/tool-list.ts node:* aws-cdk-lib constructs esbuild valibot',
  'infra/aws/app.ts': 'infra/aws infra/cli/stack/deployed-data.ts aws-cdk-lib cdk-nag',
  'infra/cli':
    'infra/aws/settings.ts infra/local lib/agents lib/client lib/context.ts lib/contract lib/deployment lib/executions/generate-output.ts lib/http lib/model lib/reconcile lib/request-context.ts lib/sqs lib/table lib/webhooks package.json node:* @aws-sdk/* @commander-js/extra-typings @smithy/node-http-handler commander ora string-width valibot',
  // Bundled for the package: without what needs a deployment.
  'infra/cli/api':
    'infra/cli/columns.ts infra/cli/command.ts infra/cli/json.ts infra/cli/listen infra/cli/printable.ts infra/cli/run-program.ts infra/cli/version.ts infra/texts.ts lib/client lib/contract node:* @commander-js/extra-typings ora',
  // What reads the bundles and the templates of the stack.
  'scripts/function-variables.ts': 'infra/aws/bundle.ts lib/context.ts lib/deployment node:* esbuild',
  'scripts/stack-sizes.ts': 'infra/aws/settings.ts infra/cli/columns.ts scripts node:*',
  scripts: 'lib/client lib/contract lib/openapi package.json valibot node:* esbuild oxc-parser vitest (computed)',
  'docs/examples/*': 'lib/client node:* @aws-sdk/* aws-lambda express hono @hono/node-server',
};
