import { consoleAsset, consolePage } from '../../lib/contract/open/console.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { consoleAssetContent, consolePageContent } from '../../lib/http/console/console-content.ts';
import { serveOpen } from '../../lib/http/serve-open.ts';

export const handler = byRoute(
  [consolePage, serveOpen(consolePage, consolePageContent)],
  [consoleAsset, serveOpen(consoleAsset, ({ params }) => consoleAssetContent(params.file))],
);
