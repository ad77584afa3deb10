import { health } from '../../lib/contract/open.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(health, async () => ({ status: 'ok' as const }));
