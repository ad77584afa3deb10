import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';

/** A received request with its unparsed body. */
type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string };

/** A server in place of Bedrock, with the requests that it received. `answer` sends the response to each request. */
export type BedrockServer = { endpoint: string; received: Received[]; answer: (response: ServerResponse) => void };

/** Starts a server whose `answer` tests can replace at any time. It ends with the process. */
export async function startBedrock(): Promise<BedrockServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
    const { method = '', url: path = '', headers } = request;
    received.push({ method, path, headers, body: Buffer.concat(chunks).toString('utf8') });
    bedrock.answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const bedrock: BedrockServer = { endpoint: `http://127.0.0.1:${port}`, received, answer: (to) => to.end() };
  server.unref();
  return bedrock;
}

/** Returns an endpoint without a server. */
export async function closedEndpoint(): Promise<string> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** Returns a function that responds with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

/** Returns a function that responds with an error of Bedrock: its name in a header, its message in the body. */
export function bedrockError(status: number, name: string, message = 'No.') {
  const type = `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/`;
  return json({ message }, status, { 'x-amzn-ErrorType': type });
}
