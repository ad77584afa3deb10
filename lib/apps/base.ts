import { randomBytes } from 'node:crypto';
import { ulidFrom } from '../contract/ids.ts';
import { environment } from '../deployment/environment.ts';
import { readLimits } from '../deployment/limits.ts';
import type { QueueName } from '../deployment/queues.ts';
import type { RequestCounts } from '../limits/requests.ts';
import { log } from '../log.ts';
import type { Queue } from '../sqs/queue.ts';
import { openTable, type Table } from '../table/client.ts';
import { openIdempotency } from '../table/idempotency.ts';
import { openTokens } from '../table/tokens.ts';
import { openKeyFile, type Secrets } from '../webhooks/secrets.ts';

/** What an app is made of. Tests pass their own clock. */
export type Collaborators = {
  environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** How webhook secrets are kept, if not under a key file. */
  secrets?: Secrets;
  /** The table, if not the one that the environment names. */
  table?: Table;
  /** Opens a queue for sending, if not the one that the environment names. */
  queue?: <Message>(name: QueueName) => Queue<Message>;
};

/**
 * Opens what every app has, whatever its function does.
 *
 * @throws `Error` where the environment names no table
 */
export function openBase({
  environment: variables,
  clock,
  secrets = openKeyFile(variables[environment.secretsKeyFile]),
  table = openTable(required(variables, environment.tableName), variables[environment.dynamodbEndpoint]),
  queue,
}: Collaborators) {
  return {
    variables,
    table,
    queue,
    secrets,
    clock,
    ulid: () => ulidFrom(clock(), randomBytes(10)),
    log: log(),
    tokens: openTokens(table),
    idempotency: openIdempotency(table, clock),
    /** The limits of organizations that have none of their own. */
    limits: readLimits(variables),
    requestCounts: new Map() as RequestCounts,
  };
}

export type Base = ReturnType<typeof openBase>;

let opened: Base | undefined;

/** The base of this process, opened when it is first asked for. */
export function base(): Base {
  opened ??= openBase({ environment: process.env, clock: Date.now });
  return opened;
}

/**
 * Sets what the base of this process is made of. Handlers keep the base that they have, so it is called before any is
 * loaded.
 */
export function setBase(collaborators: Collaborators): void {
  opened = openBase(collaborators);
}

/**
 * An app: the base and the parts that a family of functions works with. Each base opens them once, so that apps that
 * have a part in common share it.
 *
 * @returns the app over a base, which is this process's if none is given
 */
export function appOf<Parts extends object>(open: (base: Base) => Parts): (on?: Base) => Base & Parts {
  const apps = new WeakMap<Base, Base & Parts>();
  return (on = base()) => {
    const app = apps.get(on) ?? { ...on, ...open(on) };
    apps.set(on, app);
    return app;
  };
}

function required(variables: Collaborators['environment'], name: string): string {
  const value = variables[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}
