import { expect, it } from 'vitest';
import { openDeployed } from './deployed.ts';

type Task = { id: string; title: string; status: string; dependsOn: string[] };

const board = '/api/kanban-tasks';

/** The board, from an empty one on. */
export function tellOfTheBoard(): void {
  it('keeps a board: tasks, their exact number, safe changes, dependencies, deletion', async () => {
    const { api } = await openDeployed('board');
    const put = async (body: object) => {
      const { status, body: answer } = await api<Task>('POST', board, { body });
      expect([status, answer.data.status]).toEqual([201, 'backlog']);
      return answer.data.id;
    };
    const first = await put({ title: 'Draw it', priority: 'high', assignedAgent: 'qa-reviewer', projectId: 'proj_a' });
    const second = await put({ title: 'Build it', dependsOn: [first] });
    await Promise.all(['Test it', 'Ship it', 'Tell of it'].map((title) => put({ title })));

    const all = await api<Task[]>('GET', `${board}?limit=2&offset=1`);
    expect(all.body.data).toHaveLength(2);
    expect(all.body.pagination).toEqual({ limit: 2, offset: 1, total: 5 });
    const ofAgent = await api<Task[]>('GET', `${board}?assigned_agent=qa-reviewer&project_id=proj_a&priority=high`);
    expect(ofAgent.body.data.map(({ id }) => id)).toEqual([first]);

    const read = await api<Task>('GET', `${board}/${second}`);
    expect(read.body.data).toMatchObject({
      dependsOn: [{ id: first, title: 'Draw it', status: 'backlog' }],
      blockedBy: [{ id: first, title: 'Draw it', status: 'backlog' }],
    });
    const needed = await api('DELETE', `${board}/${first}`);
    expect([needed.status, needed.body.error.code]).toEqual([409, 'has_dependents']);
    const ring = await api('PATCH', `${board}/${first}`, { body: { dependsOn: [second] } });
    expect([ring.status, ring.body.error.code]).toEqual([409, 'dependency_cycle']);

    const headers = { 'If-Match': read.headers.get('etag') as string };
    const moved = await api<Task>('PATCH', `${board}/${second}`, { body: { status: 'done' }, headers });
    expect([moved.status, moved.body.data.status]).toEqual([200, 'done']);
    const late = await api('PATCH', `${board}/${second}`, { body: { status: 'backlog' }, headers });
    expect([late.status, late.body.error.code]).toEqual([412, 'precondition_failed']);

    const deleted = await api('DELETE', `${board}/${first}`);
    expect([deleted.status, deleted.text]).toEqual([200, '{"success":true}']);
    expect((await api('GET', `${board}/${first}`)).status).toBe(404);
    expect((await api('GET', board)).body.pagination.total).toBe(4);
    expect((await api<Task>('GET', `${board}/${second}`)).body.data.dependsOn).toEqual([]);
  });

  it('keeps a key to one task, and organizations apart', async () => {
    const [ours, theirs] = [await openDeployed('ours'), await openDeployed('theirs')];
    const once = { body: { title: 'Once' }, headers: { 'Idempotency-Key': 'one' } };
    const [made, again] = [await ours.api('POST', board, once), await ours.api('POST', board, once)];
    expect([again.status, again.text]).toEqual([201, made.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await ours.api('GET', board)).body.pagination.total).toBe(1);
    expect((await theirs.api('GET', `${board}/${made.body.data.id}`)).status).toBe(404);
    expect((await theirs.api('GET', board)).body.pagination.total).toBe(0);
  });
}
