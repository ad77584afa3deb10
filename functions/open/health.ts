import { processContext } from '../../lib/context/context.ts';
import { health } from '../../lib/contract/open/open.ts';
import { createHealthCheck } from '../../lib/http/check-health.ts';
import { serveOpen } from '../../lib/http/serve-open.ts';
import { withStartCheck } from '../../lib/names/start-check.ts';

const check = createHealthCheck(processContext, () => performance.now());

export const handler = withStartCheck(
  serveOpen(health, async () => {
    await check();
    return { status: 'ok' as const };
  }),
  async () => {
    await check();
    return undefined;
  },
);
