import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import { described } from '../shapes.ts';

export const consolePage = endpoint({
  method: 'GET',
  path: '/',
  summary: 'Get the console',
  status: 200,
  media: 'text/html',
});

export const consolePageReference = (): ApiReference<typeof consolePage> => ({
  description:
    'Returns the page of the console: the board, executions, agents, webhooks and events in a browser. It asks for an access token and calls this API with it.',
});

export const consoleAsset = endpoint({
  method: 'GET',
  path: '/assets/:file',
  summary: 'Get a file of the console',
  params: { file: described(v.string(), 'The name of a file, which has a hash of its content.') },
  status: 200,
  media: 'text/javascript',
  servedBy: 'consolePage',
  undocumented: true,
});

export const consoleAssetReference = (): ApiReference<typeof consoleAsset> => ({
  description: 'Returns a file of the console. The content of a name never changes, so browsers keep it.',
});
