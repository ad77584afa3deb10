import { docsScript } from '../../lib/contract/open.ts';
import { docsScriptContent } from '../../lib/http/docs-script.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(docsScript, async () => docsScriptContent);
