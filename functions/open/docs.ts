import { docs } from '../../lib/contract/open.ts';
import { docsPageContent } from '../../lib/http/docs-page.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(docs, async () => docsPageContent);
