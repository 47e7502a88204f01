import { expect, it } from 'vitest';
import { ProgressBoard } from '../../platform/index.js';
import type { OperationContext } from '../dispatch/operation.js';
import { progressOperations } from './progress.js';

const LISTS = new Map([
  ['id-1', { account: 'mine', name: 'films' }],
  ['id-2', { account: 'other', name: 'books' }],
]);

async function jobsFor(board: ProgressBoard, permissions: readonly string[]): Promise<unknown[]> {
  const [read] = progressOperations;
  const context = {
    services: { progress: board, catalog: { listOfId: (id: string) => LISTS.get(id) } },
    caller: { can: (permission: string) => permissions.includes(permission) },
  } as unknown as OperationContext;
  const result = await read?.handle(context, { params: { account: 'mine' }, query: {}, body: undefined });
  return (result?.body as { readonly jobs: unknown[] }).jobs;
}

it('tells of jobs of the account that the caller may read, by the names that people know', async () => {
  const board = new ProgressBoard();
  board.begin({ kind: 'version', subject: 'id-1', total: 10 }).start();
  board.begin({ kind: 'version', subject: 'id-2', total: 10 });
  board.begin({ kind: 'rebuild', subject: 'gone', total: 10 });
  const owner = { account: 'mine', name: 'news', permission: 'feed:read' };
  board.begin({ kind: 'sync', subject: 'feed-1', owner, total: null }).say('reading');
  board.begin({ kind: 'sync', subject: 'feed-2', owner: { ...owner, account: 'other' }, total: null });

  const films = { kind: 'version', name: 'films', state: 'running', total: 10, done: 0 };
  const news = { kind: 'sync', name: 'news', state: 'waiting', total: null, message: 'reading', started_utc: null };
  expect(await jobsFor(board, ['list:read', 'feed:read'])).toMatchObject([films, news]);
  expect(await jobsFor(board, ['list:read'])).toMatchObject([films]);
  expect(await jobsFor(board, [])).toEqual([]);
  for (const job of await jobsFor(board, ['list:read', 'feed:read']))
    expect(Object.keys(job as object)).not.toEqual(expect.arrayContaining(['subject']));
});
