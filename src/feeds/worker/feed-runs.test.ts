/** A source occupies a run, or a connection test, no longer than it may. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ScriptedServer } from '../../../test/support/scripted-server.js';
import { answeredDuringStandstill, beforeTimers } from '../../../test/support/standstill.js';
import { NEXT_FILE, type RunAsk } from './feed-protocol.js';
import { FeedRuns } from './feed-runs.js';
import { inTime } from './run-time.js';

/** Shorter than what a client waits for an answer, so that it is over first. */
const RUN_MS_MAX = 5000;
const LIMITS = {
  pagesPerSecond: 0,
  runMsMax: RUN_MS_MAX,
  retryAfterMsMax: 0,
  pageBytesMax: 1_000_000,
  answerBytesMax: 1_000_000,
  recordsMax: 1000,
};

let server: ScriptedServer;
let folder: string;
let runs: FeedRuns;
beforeEach(async () => {
  // The time of a run is over with a request, however long a busy machine takes until then.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  server = await ScriptedServer.start();
  folder = mkdtempSync(join(tmpdir(), 'gannet-runs-'));
  const outbound = { allowed_hosts: [], loopback_allowed: true };
  const searches = new SharedArrayBuffer(1024);
  runs = new FeedRuns({ outbound, limits: LIMITS, searches }, () => undefined);
});
afterEach(async () => {
  vi.useRealTimers();
  await runs.served().close?.();
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Runs a feed of an API that has a second page. */
function ran() {
  const settings = {
    url: server.url('/1'),
    method: 'GET' as const,
    records: 'data',
    name: 'id',
    pagination: { kind: 'link' as const, next: 'next' },
  };
  const ask: RunAsk = {
    provider: { name: 'api', settings },
    secret: null,
    runId: 'run',
    feed: 'feed',
    mediaStore: 'default',
    folder,
    isFresh: false,
    isEmptinessBelieved: false,
    apartMsMax: 0,
  };
  return runs.served().answers.run(ask, { signal: new AbortController().signal });
}

it('A run over the time limit ends with what it has read, even if the source has stopped answering', async () => {
  server.script = ({ path }, response) => {
    if (path === '/1') response.end(JSON.stringify({ data: [{ id: 'a' }], next: server.url('/2') }));
    else vi.advanceTimersByTime(RUN_MS_MAX);
  };
  expect(await ran()).toMatchObject({
    isOk: true,
    result: {
      added: 1,
      wasComplete: false,
      skipped: [{ what: 'the rest', why: expect.stringContaining('run_minutes_max') }],
    },
  });
  expect(readFileSync(join(folder, NEXT_FILE), 'utf8')).toContain('"a"');
});

it('A run over the time limit fails if it has read no record', async () => {
  server.script = () => void vi.advanceTimersByTime(RUN_MS_MAX);
  const told = await ran();
  expect(told).toMatchObject({ isOk: false, message: expect.stringMatching(/^The time of a run was over/) });
});

it('A source that answers while the process stands still is in time', async () => {
  vi.useRealTimers();
  const { signal } = new AbortController();
  const asked = { milliseconds: 100, signal, late: new Error('late') };
  await beforeTimers();
  const read = inTime(asked, async (own) => {
    const answer = await answeredDuringStandstill(3 * asked.milliseconds);
    own.throwIfAborted();
    return answer;
  });
  expect(await read).toBe('the answer');
});

it('inTime ends a connection test at its limit even if garbage is collected meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const late = new Error('late');
  const { signal } = new AbortController();
  vi.useRealTimers();
  const ended = inTime({ milliseconds: 100, signal, late }, (own) => {
    return new Promise((_, reject) => own.addEventListener('abort', () => reject(own.reason as Error), { once: true }));
  });
  collect();
  await expect(ended).rejects.toBe(late);
});
