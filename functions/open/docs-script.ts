import { docsScript } from '../../lib/contract/open.ts';
import { docsScriptContent } from '../../lib/http/docs/docs-script.ts';
import { serveOpen } from '../../lib/http/serve-open.ts';

export const handler = serveOpen(docsScript, async () => docsScriptContent);
