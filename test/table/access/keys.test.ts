import { expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import { type Key, keys } from '../../../lib/table/access/keys.ts';

const org = 'org' as Organization;

const written: [Key, string][] = [
  [keys.task(org, 'id'), 'O#org#T id'],
  [keys.listRow(keys.taskScope(org, {}), 'facet', 'id'), 'O#org#TX facet#id'],
  [keys.listRow(keys.taskScope(org, { agent: 'agent' }), 'facet', 'id'), 'O#org#TA#agent facet#id'],
  [keys.listRow(keys.taskScope(org, { project: 'project' }), 'facet', 'id'), 'O#org#TP#project facet#id'],
  [
    keys.listRow(keys.taskScope(org, { agent: 'agent', project: 'project' }), 'facet', 'id'),
    'O#org#TAP#agent#project facet#id',
  ],
  [keys.listCounter(keys.taskScope(org, { agent: 'agent' }), 'period', 3), 'O#org#C#TA#agent period#3'],
  [keys.graphLock(org), 'O#org#G -'],
  [keys.agent(org, 'name'), 'O#org#A name'],
  [keys.agentText(org, 'agent', 'hash'), 'O#org#AP#agent hash'],
  [keys.promptChange(org, 'agent', 'time', 7), 'O#org#AP#agent @time#000000007'],
  [keys.agentSkill(org, 'agent', 'skill'), 'O#org#AS#agent skill'],
  [keys.purge(org, 'agent'), 'O#org#PU agent'],
  [keys.taskPurge(org, 'task'), 'O#org#PT task'],
  [keys.executionHead(org, 'execution'), 'O#org#X#execution M'],
  [keys.executionInput(org, 'execution'), 'O#org#X#execution IN'],
  [keys.executionOutput(org, 'execution', 1), 'O#org#X#execution OUT#1'],
  [keys.listRow(keys.executionScope(org), 'facet', 'id'), 'O#org#XL facet#id'],
  [keys.listRow(keys.executionScope(org, 'agent'), 'facet', 'id'), 'O#org#XA#agent facet#id'],
  [keys.delegation(org, 'id'), 'O#org#D id'],
  [keys.improvement(org, 'agent'), 'O#org#AI#agent -'],
  [keys.improvementPass(org, 'agent', 'pass'), 'O#org#AI#agent pass'],
  [keys.improvementProof(org, 'agent', 'pass'), 'O#org#AI#agent P#pass'],
  [keys.running(org), 'O#org#RUN -'],
  [keys.metricsOfDay(org, 'date'), 'O#org#M date'],
  [keys.metricsOfDay(org, 'date', 'agent'), 'O#org#M#agent date'],
  [keys.metricsOfDay(org, 'date', 'agent', 'hash'), 'O#org#M#agent date#hash'],
  [keys.webhook(org, 'id'), 'O#org#W id'],
  [keys.webhookSecret(org, 'id'), 'O#org#WS id'],
  [keys.webhookCount(org), 'O#org#WN -'],
  [keys.subscription(org, 'event', 'webhook'), 'O#org#S#event webhook'],
  [keys.event(org, 'id'), 'O#org#E id'],
  [keys.lateEvents(org, 'position'), 'O#org#E L#position'],
  [keys.listRow(keys.attemptScope(org, 'webhook'), 'facet', 'id'), 'O#org#WD#webhook facet#id'],
  [keys.lateAttempt(org, 'webhook', 'delivery', 2), 'O#org#WD#webhook L#delivery#2'],
  [keys.redelivery(org, 'webhook', 'delivery', 5), 'O#org#WD#webhook R#delivery#000005'],
  [keys.response(org, 'webhook', 'attempt'), 'O#org#WB#webhook attempt'],
  [
    keys.parkedAttempt(org, 'webhook', { part: 'p1', delivery: 'delivery', attempt: 2 }),
    'O#org#WP#webhook#p1 P#delivery#000002',
  ],
  [keys.parkedAttempt(org, 'webhook', { delivery: 'delivery', attempt: 2 }), 'O#org#WD#webhook P#delivery#000002'],
  [keys.parkedRelease(org, 'webhook'), 'O#org#WP webhook'],
  [keys.recovery(org, 'webhook', 'id'), 'O#org#WR#webhook id'],
  [keys.recoveryLock(org, 'webhook'), 'O#org#WR#webhook -'],
  [keys.closedAttempts(org, 'webhook'), 'O#org#C#WD#webhook closed'],
  [keys.oldDelivery(org, 'webhook', 'delivery'), 'O#org#WD#webhook D#delivery'],
  [keys.idempotency(org, 'hash'), 'O#org#I#hash -'],
  [keys.requestBucket(org), 'O#org#RL -'],
  [keys.callsOutBucket(org), 'O#org#RL calls-out'],
  [keys.settings(org), 'O#org#SET -'],
  [keys.organizationToken(org, 'id'), 'O#org#TOK id'],
  [keys.heartbeat(), 'HEARTBEAT -'],
  [keys.logClock(), 'LOGCLOCK -'],
  [keys.token('id'), 'TOK#id -'],
];

it('the keys stay as earlier versions have written them', () => {
  expect(written.map(([{ pk, sk }]) => `${pk} ${sk}`)).toEqual(written.map(([, name]) => name));
});
