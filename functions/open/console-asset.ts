import { consoleAsset } from '../../lib/contract/console.ts';
import { consoleAssetContent } from '../../lib/http/console/console-content.ts';
import { serveOpen } from '../../lib/http/serve-open.ts';

export const handler = serveOpen(consoleAsset, ({ params }) => consoleAssetContent(params.file));
