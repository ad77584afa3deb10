import { openapi } from '../../lib/contract/open/open.ts';
import { openApiContent } from '../../lib/http/docs/openapi.ts';
import { serveOpen } from '../../lib/http/serve-open.ts';

export const handler = serveOpen(openapi, async () => openApiContent);
