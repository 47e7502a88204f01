import { expect, it } from 'vitest';
import { ProgressBoard } from '../../platform/index.js';
import { jobEvents } from './job-events.js';

const TIMES = { toldMs: 2, quietMsMax: 20, streamMs: 60_000 };

/** A client that can be declared slow. */
function listen(board: ProgressBoard, times = TIMES, mayGoOn = () => true) {
  const client = {
    isBehind: false,
    said: [] as string[],
    ended: false,
    send(text: string) {
      client.said.push(text);
    },
    end() {
      client.ended = true;
    },
  };
  const read = () => ({ jobs: board.all().map(({ done }) => done) });
  const close = jobEvents(board, { read, mayGoOn }, times).open(client);
  const events = (): unknown[] =>
    client.said.flatMap((text) => {
      const data = /^event: jobs\ndata: (.*)\n\n$/.exec(text)?.[1];
      return data === undefined ? [] : [(JSON.parse(data) as { jobs: unknown }).jobs];
    });
  return { client, close, events };
}

const job = (board: ProgressBoard) => board.begin({ kind: 'version', subject: 'films', total: 10 });

it('The stream of jobs sends the current state at once, then each change and the end of a job', async () => {
  const board = new ProgressBoard();
  const { close, events } = listen(board);
  expect(events()).toEqual([[]]);
  const films = job(board);
  await expect.poll(events).toEqual([[], [0]]);
  films.start();
  films.advance(4);
  await expect.poll(events).toEqual([[], [0], [4]]);
  films.finish();
  await expect.poll(events).toEqual([[], [0], [4], []]);
  close();
  expect(board.listenerCount).toBe(0);
});

it('The stream of jobs sends a slow client only the last state when it has caught up', async () => {
  const board = new ProgressBoard();
  const { client, close, events } = listen(board);
  client.isBehind = true;
  const films = job(board);
  for (let count = 0; count < 100; count += 1) films.advance(1);
  await new Promise((resolve) => setTimeout(resolve, 5 * TIMES.toldMs));
  expect(events()).toEqual([[]]);
  client.isBehind = false;
  await expect.poll(events).toEqual([[], [100]]);
  close();
});

it('The stream of jobs sends a comment while nothing changes, and no state twice', async () => {
  const board = new ProgressBoard();
  const { client, close, events } = listen(board);
  job(board).finish();
  await expect.poll(() => client.said.filter((text) => text === ':\n\n').length).toBeGreaterThan(1);
  expect(events()).toEqual([[]]);
  close();
});

it('The stream of jobs ends after its time, and sends nothing once it is closed', async () => {
  const board = new ProgressBoard();
  const { client, close } = listen(board, { ...TIMES, streamMs: 10 });
  await expect.poll(() => client.ended).toBe(true);
  close();
  const said = client.said.length;
  job(board);
  expect(client.said).toHaveLength(said);
});

it('The stream of jobs reads ten thousand jobs only a few times within a turn', () => {
  const board = new ProgressBoard();
  let reads = 0;
  const client = { isBehind: false, send: () => undefined, end: () => undefined };
  const read = () => ({ read: (reads += 1) });
  // No timer fires while the jobs are read.
  const close = jobEvents(board, { read, mayGoOn: () => true }, { ...TIMES, toldMs: 60_000 }).open(client);
  const jobs = Array.from({ length: 10_000 }, (_, index) =>
    board.begin({ kind: 'import', subject: `${index}`, total: null }),
  );
  for (const one of jobs) one.start();
  for (const one of jobs) one.finish();
  expect(reads).toBeLessThan(10);
  close();
});

it('The stream of jobs updates a thousand clients less often, but tells each of them the end of a job', async () => {
  const board = new ProgressBoard();
  const watchers = Array.from({ length: 1_000 }, () => listen(board, { ...TIMES, toldMs: 20, quietMsMax: 60_000 }));
  const films = job(board);
  films.start();
  await expect.poll(() => watchers.every(({ events }) => events().length === 2)).toBe(true);
  films.finish();
  // The end is not sent at once: otherwise, every short job would be sent to all of them.
  expect(watchers.some(({ events }) => events().length > 2)).toBe(false);
  await expect.poll(() => watchers.every(({ events }) => events().length === 3)).toBe(true);
  for (const { close } of watchers) close();
});

it('The stream of jobs ends, and tells nothing more, once its caller may not be told any more', async () => {
  const board = new ProgressBoard();
  let isAllowed = true;
  const { client, close, events } = listen(board, { ...TIMES, toldMs: 60_000 }, () => isAllowed);
  isAllowed = false;
  job(board);
  await expect.poll(() => client.ended).toBe(true);
  expect(events()).toEqual([[]]);
  close();
});
