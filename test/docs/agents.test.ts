import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toolScopesOf } from '../../lib/contract/agents/agent-operations.ts';
import { toolCapabilities } from '../../lib/contract/agents/agents.ts';
import { ImprovementPass, improvementDecisions } from '../../lib/contract/agents/improvements.ts';
import { PromptListItem } from '../../lib/contract/agents/prompts.ts';
import { type ErrorCode, errorStatus } from '../../lib/contract/errors.ts';
import { delegateTask } from '../../lib/contract/executions/executions.ts';
import { routes } from '../../lib/contract/routes.ts';
import { userPromptOf } from '../../lib/executions/prompts/execution-prompts.ts';
import { grantedTools } from '../../lib/tools/agent-tools.ts';
import { firstColumnOf, sectionOf as sectionOfPage } from './markdown.ts';

const page = readFileSync('docs/agents.md', 'utf8');
const sectionOf = (heading: string) => sectionOfPage(page, heading);

describe('the page on agents', () => {
  it('lists the tools and the scopes of each capability', () => {
    const rows = [...sectionOf('## Tools').matchAll(/^\| `([\w.]+)` \| (.*) \| (.*) \|$/gm)];
    const codes = (text = '') => [...text.matchAll(/`([\w:]+)`/g)].map(([, name]) => name);
    const listed = rows
      .slice(0, toolCapabilities.length)
      .map(([, one, tools, scopes]) => [one, codes(tools), codes(scopes)]);
    expect(listed).toEqual(
      toolCapabilities.map((one) => [one, grantedTools([one]).map(({ name }) => name), toolScopesOf([one])]),
    );
  });

  it('lists the parts of a system prompt in their order', () => {
    const parts = [...sectionOf('## The prompt').matchAll(/^\d\. .*?`?(soul|systemPrompt|skills)`?/gm)];
    expect(parts.map(([, part]) => part)).toEqual(['soul', 'systemPrompt', 'skills']);
  });

  it('lists the parts of a user message in their order', () => {
    const task = { title: 'title', description: 'description' };
    const dependencies = [{ title: 'title', status: 'done' as const }];
    const by = { kind: 'token', name: 'console' } as const;
    const at = '2026-01-01T00:00:00.000Z';
    const reviewComments = [{ id: 'cm_1', text: 'text', author: by, createdAt: at, updatedAt: at }];
    const ofTask = { task, dependencies, reviewComments };
    const message = userPromptOf({ input: 'input', context: { a: 1 }, ...ofTask, delegatedBy: 'lead' });
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

  it('has the limits and the default of lookbackExecutions, which improvements.test.ts tests', () => {
    expect(sectionOf('## Self-improvement')).toContain('(1 to 100, default 20)');
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

  it('lists the fields and the decisions of a pass', () => {
    const section = sectionOf('### The proof of a pass');
    const named = (table: string) =>
      firstColumnOf(table).flatMap((column) => [...column.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(named(section)).toEqual(Object.keys(ImprovementPass.entries));
    const decisions = section.slice(section.indexOf('| `decision` | Meaning |'));
    expect(named(decisions).toSorted()).toEqual(improvementDecisions.toSorted());
  });

  it('lists the fields of a prompt', () => {
    const fields = Object.keys(PromptListItem.entries).map((name) => `\`${name}\``);
    expect(firstColumnOf(sectionOf('### The history of a prompt'))).toEqual(fields);
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
