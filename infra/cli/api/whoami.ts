import { apiCommand } from './api-command.ts';
import { connect } from './connection.ts';
import { printDetail } from './detail.ts';

/** `crewboard whoami`: the organization and the scopes of the access token. */
export const whoami = apiCommand(
  'whoami',
  'Show the organization and the scopes of the access token',
  'whoami',
  'whoami --json',
).action(async (options, command) => {
  const { data } = await connect(options, command).getMe();
  const rows = [
    ['organization', data.organization],
    ['token', data.token.id],
    ['name', data.token.name],
    ['created', data.token.createdAt],
    ['scopes', data.scopes.join('\n')],
    ['service', options.url],
  ] as const;
  printDetail(data, rows, options);
});
