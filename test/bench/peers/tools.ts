import { successOf } from '../../api.ts';
import { createApiOverHttp } from '../../api-over-http.ts';
import type { Bench } from '../bench.ts';
import { byCallers } from '../scenario.ts';
import { cpuUsedBy, startService } from '../service.ts';
import { type Comparison, fewCallers, type Size } from './comparison.ts';
import { connectTool, everything, type ToolServer } from './everything.ts';

type Call = () => Promise<unknown>;

/** Calls of a tool by clients of the Model Context Protocol, beside its example server. */
export function tools(bench: Bench, { calls, warmUp }: Size): Comparison<ToolServer, readonly Call[]> {
  const callBy = (clients: readonly Call[], count: number) =>
    byCallers(clients.length, count, (caller) => (clients[caller] as Call)());
  return {
    peer: everything,
    async startOwn() {
      const service = await startService(bench);
      const token = await service.newToken();
      const { createTask } = createApiOverHttp(service.url, token);
      for (let nth = 0; nth < 20; nth++) successOf(await createTask({ body: { title: `Task ${nth}` } }));
      const headers = { Authorization: `Bearer ${token}` };
      const connect = () => connectTool(bench, `${service.url}/mcp`, { name: 'list_tasks', arguments: {} }, headers);
      return { ...service, connect };
    },
    async prepare({ connect }) {
      const clients = await Promise.all(Array.from({ length: fewCallers }, connect));
      await callBy(clients, warmUp);
      return clients;
    },
    figures: { call: { name: 'list_tasks of 20 tasks; echo', decimals: 2 } },
    measurements: [async (setup) => ({ call: (await cpuUsedBy(setup, () => callBy(setup.ready, calls))) / calls })],
  };
}
