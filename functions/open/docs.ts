import { docs } from '../../lib/contract/open.ts';
import { docsPageContent } from '../../lib/http/docs/docs-page.ts';
import { serveOpen } from '../../lib/http/serve-open.ts';

export const handler = serveOpen(docs, async () => docsPageContent);
