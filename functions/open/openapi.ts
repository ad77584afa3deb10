import { openapi } from '../../lib/contract/open.ts';
import { openApiContent } from '../../lib/http/openapi.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(openapi, async () => openApiContent);
