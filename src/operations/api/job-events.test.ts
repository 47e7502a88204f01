import { expect, it } from 'vitest';
import { ProgressBoard } from '../../platform/index.js';
import { jobEvents } from './job-events.js';

const TIMES = { toldMs: 2, quietMsMax: 20, streamMs: 60_000 };

/** A client that may be told to be behind. */
function listen(board: ProgressBoard, times = TIMES) {
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
  const close = jobEvents(board, () => ({ jobs: board.all().map(({ done }) => done) }), times).open(client);
  const events = (): unknown[] =>
    client.said.flatMap((text) => {
      const data = /^event: jobs\ndata: (.*)\n\n$/.exec(text)?.[1];
      return data === undefined ? [] : [(JSON.parse(data) as { jobs: unknown }).jobs];
    });
  return { client, close, events };
}

const job = (board: ProgressBoard) => board.begin({ kind: 'version', subject: 'films', total: 10 });

it('tells what there is at once, each change after it, and the end', async () => {
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

it('tells who is behind the last state alone, once they have caught up', async () => {
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

it('says that it is there while nothing happens, and nothing twice', async () => {
  const board = new ProgressBoard();
  const { client, close, events } = listen(board);
  job(board).finish();
  await expect.poll(() => client.said.filter((text) => text === ':\n\n').length).toBeGreaterThan(1);
  expect(events()).toEqual([[]]);
  close();
});

it('ends after its time, and tells nothing once it is closed', async () => {
  const board = new ProgressBoard();
  const { client, close } = listen(board, { ...TIMES, streamMs: 10 });
  await expect.poll(() => client.ended).toBe(true);
  close();
  const said = client.said.length;
  job(board);
  expect(client.said).toHaveLength(said);
});
