import { describe, expect, it } from 'vitest';
import { tellOfAgents } from './agents.ts';
import { tellOfTheBoard } from './board.ts';
import { cdk } from './cdk.ts';
import { deploy, destroy } from './deployed.ts';
import { tellOfLeastPrivilege } from './least-privilege.ts';
import { leftovers } from './leftovers.ts';
import { tellOfRefusals } from './refusals.ts';
import { tellOfAnUpdate } from './update.ts';
import { tellOfWebhooks } from './webhooks.ts';

describe('a team with an empty account', () => {
  it('bootstraps it, and deploys the stack', async () => {
    await cdk('bootstrap', 'aws://000000000000/us-east-1');
    await deploy();
  }, 240_000);
});

describe('the deployed service', { concurrent: true }, () => {
  tellOfRefusals();
  tellOfTheBoard();
  tellOfAgents();
  tellOfWebhooks();
});

describe('the grants of the functions', () => {
  tellOfLeastPrivilege();
});

describe('an update', () => {
  tellOfAnUpdate();
});

describe('the end of it', () => {
  it('is one command, which leaves nothing', async () => {
    const none = { stacks: [], roles: [], functions: [], mappings: [], tables: [], queues: [], logs: [], keys: [] };
    const before = await leftovers();
    for (const kind of Object.values(before)) expect(kind).not.toEqual([]);
    await destroy();
    expect(await leftovers()).toEqual(none);
  });
});
