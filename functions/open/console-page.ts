import { consolePage } from '../../lib/contract/console.ts';
import { consolePageContent } from '../../lib/http/console/console-content.ts';
import { serveOpen } from '../../lib/http/serve-open.ts';

export const handler = serveOpen(consolePage, consolePageContent);
