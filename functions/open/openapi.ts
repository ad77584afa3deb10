import { openApiDocument } from '../../lib/contract/document.ts';
import { openapi } from '../../lib/contract/open.ts';
import { serve } from '../../lib/http/serve.ts';

const document = JSON.stringify(openApiDocument());

export const handler = serve(openapi, async () => document);
