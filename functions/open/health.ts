import { health } from '../../lib/contract/open.ts';
import { serveOpen } from '../../lib/http/serve-open.ts';

export const handler = serveOpen(health, async () => ({ status: 'ok' as const }));
