import { expect, it } from 'vitest';
import { ProgressBoard } from '../../platform/index.js';
import type { OperationContext } from '../dispatch/operation.js';
import type { EventStream } from '../dispatch/event-stream.js';
import { progressOperations } from './progress.js';

const LISTS = new Map([
  ['id-1', { account: 'mine', name: 'films' }],
  ['id-2', { account: 'other', name: 'books' }],
]);

const CATALOG = {
  listOfId: (id: string) => LISTS.get(id),
  list: (account: string, name: string) =>
    [...LISTS].map(([id, list]) => ({ id, ...list })).find((list) => list.account === account && list.name === name),
};

interface Answer {
  readonly jobs: readonly { readonly name: string }[];
  readonly job_count: number;
}

async function answerFor(board: ProgressBoard, permissions: readonly string[], name?: string): Promise<Answer> {
  const [read] = progressOperations;
  const context = {
    services: { progress: board, catalog: CATALOG },
    caller: { can: (permission: string) => permissions.includes(permission) },
  } as unknown as OperationContext;
  const query = name === undefined ? {} : { name };
  const result = await read?.handle(context, { params: { account: 'mine' }, query, body: undefined });
  return result?.body as Answer;
}

const jobsFor = async (board: ProgressBoard, permissions: readonly string[]) =>
  (await answerFor(board, permissions)).jobs;

it('Progress lists the jobs of the account that the caller may read, by the names of their lists and feeds', async () => {
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

it('Progress lists the first hundred of ten thousand jobs, their number, and those of a given name', async () => {
  const board = new ProgressBoard();
  const permissions = ['list:read', 'feed:read', 'webhook:read'];
  for (let index = 0; index < 10_000; index += 1) {
    const kind = index % 3 === 0 ? 'feed' : 'webhook';
    const owner = { account: 'mine', name: `source-${index}`, permission: `${kind}:read` };
    board.begin({ kind, subject: `${index}`, owner, total: null });
  }
  const names = (answer: Answer) => answer.jobs.map(({ name }) => name);

  const all = await answerFor(board, permissions);
  expect(names(all)).toEqual(Array.from({ length: 100 }, (_, index) => `source-${index}`));
  expect(all.job_count).toBe(10_000);
  const feeds = await answerFor(board, ['feed:read']);
  expect(names(feeds)).toEqual(Array.from({ length: 100 }, (_, index) => `source-${3 * index}`));
  expect(feeds.job_count).toBe(3_334);
  const last = await answerFor(board, permissions, 'source-9999');
  expect([names(last), last.job_count]).toEqual([['source-9999'], 1]);
  expect(await answerFor(board, ['feed:read'], 'source-1')).toEqual({ jobs: [], job_count: 0 });
});

it('A stream of the jobs of one list includes its job although a hundred others began before it', async () => {
  const board = new ProgressBoard();
  const owner = { account: 'mine', name: 'news', permission: 'list:read' };
  for (let index = 0; index < 100; index += 1) board.begin({ kind: 'feed', subject: `${index}`, owner, total: null });
  board.begin({ kind: 'import', subject: 'id-1', total: null });
  const context = {
    services: { progress: board, catalog: CATALOG },
    caller: { can: () => true },
  } as unknown as OperationContext;
  const watch = progressOperations[1];
  const result = await watch?.handle(context, {
    params: { account: 'mine' },
    query: { name: 'films' },
    body: undefined,
  });
  let told = '';
  const stream = (result as unknown as { readonly events: EventStream }).events;
  const close = stream.open({ isBehind: false, send: (text) => (told += text), end: () => undefined });
  close();
  expect(told).toContain('"job_count":1}');
  expect(told).toContain('"name":"films"');
});

it('Progress shows a job when its list comes into the catalogue, and by its current name', async () => {
  const board = new ProgressBoard();
  board.begin({ kind: 'import', subject: 'id-3', total: null });
  expect(await answerFor(board, ['list:read'])).toEqual({ jobs: [], job_count: 0 });
  LISTS.set('id-3', { account: 'mine', name: 'plays' });
  expect(await jobsFor(board, ['list:read'])).toMatchObject([{ name: 'plays' }]);
  LISTS.set('id-3', { account: 'mine', name: 'dramas' });
  expect(await jobsFor(board, ['list:read'])).toMatchObject([{ name: 'dramas' }]);
  LISTS.delete('id-3');
  expect(await jobsFor(board, ['list:read'])).toEqual([]);
});
