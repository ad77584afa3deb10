import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorStatus } from '../../lib/contract/errors.ts';
import { delegateTask } from '../../lib/contract/executions.ts';
import { NewImprovement } from '../../lib/contract/improvements.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { routes } from '../../lib/contract/routes.ts';
import { systemPromptOf, userPromptOf } from '../../lib/executions/prompts.ts';
import { validate } from '../../lib/http/validate.ts';
import { keys } from '../../lib/table/keys.ts';
import { storedAgent } from '../table/agents/agent-seed.ts';
import { page, sectionOf } from './agents-page.ts';
import { firstColumnOf } from './markdown.ts';

describe('the page on agents', () => {
  it('lists the parts of a system prompt in their order', () => {
    const agent = storedAgent({ soul: 'the soul', systemPrompt: 'the prompt' });
    const skills = [{ id: 'sk_a', assignedAt: '' }];
    const catalogue = [{ id: 'sk_a', name: 'Skill A', description: '', body: 'how' }];
    expect(systemPromptOf({ agent, skills }, catalogue)).toBe('the soul\n\nthe prompt\n\n# Skill: Skill A\n\nhow');
    const parts = [...sectionOf('## The prompt').matchAll(/^\d\. .*?`?(soul|systemPrompt|skills)`?/gm)];
    expect(parts.map(([, part]) => part)).toEqual(['soul', 'systemPrompt', 'skills']);
  });

  it('lists the parts of a user message in their order', () => {
    const task = { title: 'title', description: 'description' };
    const message = userPromptOf({ input: 'input', context: { a: 1 }, task, delegatedBy: 'lead' });
    const tags = [...message.matchAll(/^<[a-z-]+>$/gm)].map(([tag]) => `\`${tag}\``);
    expect(firstColumnOf(sectionOf('## The prompt'))).toEqual(tags);
  });

  it('lists error codes of a delegation with their statuses', () => {
    const rows = firstColumnOf(sectionOf('## Delegation'));
    const listed = rows.map((row) => /^(\d+) `(\w+)`$/.exec(row) as unknown as [string, string, ErrorCode]);
    expect(listed).toHaveLength(4);
    for (const [, status, code] of listed) {
      expect(delegateTask.errors).toContain(code);
      expect(errorStatus[code]).toBe(Number(status));
    }
  });

  it('has the limits and the default of lookbackExecutions', () => {
    expect(sectionOf('## Self-improvement')).toContain('(1 to 100, default 20)');
    const lookback = (lookbackExecutions?: number) => {
      const { output, errors } = validate(
        NewImprovement,
        lookbackExecutions === undefined ? {} : { lookbackExecutions },
      );
      return errors.length > 0 ? undefined : (output as { lookbackExecutions: number }).lookbackExecutions;
    };
    expect([undefined, 0, 1, 100, 101].map(lookback)).toEqual([20, undefined, 1, 100, undefined]);
  });

  it('lists every reason for which a prompt is not changed, and no other', () => {
    const sources = { 'improvement-pass': /reason: (['`])(.*?)\1/g, improvements: /return (['`])([A-Z].*?)\1/g };
    const reasons = Object.entries(sources).flatMap(([file, reason]) => [
      ...readFileSync(`lib/improvements/${file}.ts`, 'utf8').matchAll(reason),
    ]);
    const listed = firstColumnOf(sectionOf('### How to read `changesSummary`'));
    const begins = (reason: string) => listed.filter((text) => reason.startsWith(text));
    expect(reasons.length).toBeGreaterThan(10);
    for (const [, , reason = ''] of reasons) expect(begins(reason), reason).toHaveLength(1);
    expect(listed.filter((text) => !reasons.some(([, , reason = '']) => reason.startsWith(text)))).toEqual([]);
  });

  it('has the key of the stored prompts', () => {
    const section = sectionOf('### The history of a prompt');
    const [, ulid = ''] = /#AP#(\w+)"/.exec(section) ?? [];
    expect(section).toContain(`"${keys.agentTexts('acme' as Organization, ulid)}"`);
    expect(keys.promptChange('acme' as Organization, ulid, 'x', 1).sk).toMatch(/^@/);
  });

  it('names only paths that exist', () => {
    const paths = [...page.matchAll(/`(GET|POST|PATCH|DELETE) (\/[\w/:-]+)/g)].map(([, method, path]) => [
      method,
      path,
    ]);
    expect(paths.length).toBeGreaterThan(3);
    const known = routes.map(([, { method, path }]) => `${method} ${path}`);
    for (const named of paths) expect(known).toContain(named.join(' '));
  });
});
