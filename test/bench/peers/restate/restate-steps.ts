import { createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The message of this process: its URL. */
export type Said = { url: string };

/** What is used of Restate's SDK, which is no dependency of the project. */
type Sdk = {
  service: (definition: { name: string; handlers: Record<string, (context: Context) => Promise<unknown>> }) => object;
  createEndpointHandler: (options: {
    services: object[];
  }) => (request: Http2ServerRequest, response: Http2ServerResponse) => void;
};
type Context = { run: (name: string, action: () => unknown) => Promise<unknown> };

// A process of its own, forked by `restate.ts`: it carries out the steps that Restate journals.
const [sdkFolder = ''] = process.argv.slice(2);
const { service, createEndpointHandler } = (await import(pathToFileURL(join(sdkFolder, 'dist/index.js')).href)) as Sdk;
const steps = service({
  name: 'steps',
  handlers: {
    async three(context) {
      for (const name of ['first', 'second', 'third']) await context.run(name, () => name);
    },
  },
});
const server = createServer(createEndpointHandler({ services: [steps] }));
server.listen(0, '127.0.0.1', () => {
  const said: Said = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  process.send?.(said);
});
process.on('disconnect', () => process.exit());
