import { docs, docsScript } from '../../lib/contract/open/open.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { docsPageContent } from '../../lib/http/docs/docs-page.ts';
import { docsScriptContent } from '../../lib/http/docs/docs-script.ts';
import { serveOpen } from '../../lib/http/serve-open.ts';

export const handler = byRoute(
  [docs, serveOpen(docs, async () => docsPageContent)],
  [docsScript, serveOpen(docsScript, async () => docsScriptContent)],
);
