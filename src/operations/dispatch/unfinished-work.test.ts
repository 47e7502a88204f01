/** A deletion of which a feature takes long to forget what it has. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { UnfinishedWork } from '../../catalog/index.js';
import type { Services } from './services.js';
import { finishWork } from './unfinished-work.js';

const WORK: UnfinishedWork = {
  ...{ kind: 'removing', subject: 'list', id: 'one', account: 'default', name: 'birds' },
  since_utc: '2026-11-21T00:00:00.000Z',
};

let forgotten: (isDone: boolean) => void;
let finished: UnfinishedWork[];
let logged: string[];
let services: Services;
beforeEach(() => {
  vi.useFakeTimers();
  const forgetting = new Promise<boolean>((resolve) => (forgotten = resolve));
  finished = [];
  logged = [];
  services = {
    forget: () => forgetting,
    indexes: { remove: () => Promise.resolve() },
    catalog: {
      finish: (work: UnfinishedWork) => {
        finished.push(work);
        return Promise.resolve();
      },
    },
    log: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
  } as unknown as Services;
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets the time pass for which a deletion waits at the most. */
async function waited(): Promise<void> {
  const ended = finishWork(services, WORK);
  await vi.advanceTimersByTimeAsync(2000);
  await ended;
  expect(finished).toEqual([]);
}

it('A deletion does not wait for a feature that takes long, and is taken off the unfinished ones when that is done', async () => {
  await waited();
  forgotten(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(finished).toEqual([WORK]);
});

it('A deletion of which a feature could not forget what it has stays unfinished, however late that is known', async () => {
  await waited();
  forgotten(false);
  await vi.advanceTimersByTimeAsync(0);
  await finishWork(services, WORK);
  expect(finished).toEqual([]);
});

it('A deletion that cannot be taken off any more, as the service has ended, is logged', async () => {
  services.catalog.finish = () => Promise.reject(new Error('closed'));
  await waited();
  expect(logged).toEqual([]);
  forgotten(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(logged.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'What is left of a deletion is removed at the next start',
  ]);
});
