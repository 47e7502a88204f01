import { expect, it } from 'vitest';
import type { JobFollower } from '../operations/index.js';
import type { Output } from './output.js';
import type { ServiceClient } from './service-client.js';
import { watchedToEnd } from './watched-job.js';

const follower: JobFollower = {
  kind: 'feed-sync',
  nameOf: () => 'news',
  operation: 'feed.read',
  isOver: (_begun, now) => (now as { status: string }).status !== 'Syncing',
  hasFailed: () => false,
};

function watched(isTerminal: boolean, jobs: readonly (object | undefined)[]) {
  const written: string[] = [];
  const left = [...jobs];
  const asked: string[] = [];
  const client = {
    call: (name: string) => {
      asked.push(name);
      if (name === 'feed.read')
        return Promise.resolve({ status: left.length === 0 ? 'Synced' : 'Syncing', at: asked.length });
      const job = left.shift();
      const others = [
        { kind: 'feed-sync', name: 'other', state: 'running', done: 5, rate_per_second: 1, message: null },
      ];
      return Promise.resolve({ jobs: job === undefined ? others : [...others, job] });
    },
  } as unknown as ServiceClient;
  const output = { isTerminal, columns: 80, write: (text: string) => written.push(text) } as unknown as Output;
  const input = { params: { account: 'default', feed: 'news' } };
  const wait = () => Promise.resolve();
  const run = ({ isShown = true } = {}) =>
    watchedToEnd(
      client,
      { follower, begun: {}, account: 'default', input, output: isShown ? output : undefined },
      wait as never,
    );
  return { run, written, asked };
}

const job = (done: number, queued: number) => ({
  kind: 'feed-sync',
  name: 'news',
  state: 'running',
  done,
  rate_per_second: 311.4,
  message: `${queued} queued`,
});

it('watchedToEnd redraws one line on a terminal until the job is done, and clears it', async () => {
  const { run, written } = watched(true, [undefined, job(1204, 88), job(1290, 2)]);
  expect(await run()).toMatchObject({ status: 'Synced' });
  expect(written).toEqual([
    '\r\u001b[KWaiting in the queue',
    '\r\u001b[K1,204 done, 88 queued, 311/s',
    '\r\u001b[K1,290 done, 2 queued, 311/s',
    '\r\u001b[K',
  ]);
});

it('watchedToEnd writes few lines if the output is no terminal, and none if nothing is to be shown', async () => {
  const plain = watched(false, [job(1, 2), job(3, 4)]);
  await plain.run();
  expect(plain.written).toEqual(['1 done, 2 queued, 311/s\n']);
  const { run, written, asked } = watched(true, [job(1, 2)]);
  await run({ isShown: false });
  expect([asked, written]).toEqual([['feed.read', 'progress.read', 'feed.read'], []]);
});
