import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.js';
import { tuneGarbageCollection } from '../garbage-collection.js';
import { packageRoot } from '../paths.js';
import { CallTimedOutError, createChildProcess, createWorkerThread, type Host, type HostOptions } from './index.js';

interface Echo {
  readonly ask: unknown;
  readonly data: unknown;
  readonly told: readonly string[];
  readonly pid: number;
}

interface TestProtocol {
  readonly questions: {
    readonly echo: { readonly ask: unknown; readonly answer: Echo };
    readonly refuse: { readonly ask: string; readonly answer: never };
    readonly fail: { readonly ask: null; readonly answer: never };
    readonly die: { readonly ask: null; readonly answer: never };
    readonly hang: { readonly ask: null; readonly answer: never };
    readonly grow: { readonly ask: null; readonly answer: never };
    readonly may: {
      readonly ask: string;
      readonly answer: { readonly read: string; readonly write: string; readonly start: string };
    };
    readonly wait: { readonly ask: null; readonly answer: null };
  };
  readonly notices: { readonly note: string };
  readonly events: {
    readonly noted: string;
    readonly waiting: true;
    readonly cancelled: true;
    readonly closed: true;
  };
}

/** How long a host without questions keeps its worker. */
const IDLE_MS_MAX = 20;
const entry = fileURLToPath(new URL('../../../test/support/hosted-worker.mjs', import.meta.url));

describe.each(['thread', 'process'] as const)('a worker that is a %s', (kind) => {
  let events: unknown[];
  let deaths: Error[];
  let bugs: string[];
  let isKeptAlive: boolean;
  let host: Host<TestProtocol>;

  beforeEach(() => {
    events = [];
    deaths = [];
    bugs = [];
    isKeptAlive = false;
    host = created();
  });
  afterEach(() => host.close());

  function created(idleMsMax?: number, readableFolders?: readonly string[]): Host<TestProtocol> {
    const options: HostOptions<TestProtocol> = {
      name: 'test',
      entry,
      data: { some: 'data' },
      heapMibMax: 64,
      niceness: 1,
      onEvent: (...event) => events.push(event),
      onStart: (started) => started.notify('note', 'first of all'),
      onDeath: (error) => deaths.push(error),
      onBug: (question, stack) => bugs.push(`${question}: ${stack}`),
      isKeptAlive: () => isKeptAlive,
      idleMsMax,
    };
    const ofProcess = readableFolders === undefined ? {} : { readableFolders };
    return kind === 'thread'
      ? createWorkerThread(options)
      : createChildProcess({ ...options, ...ofProcess, memoryMibMax: 300 });
  }

  const event = (name: string) =>
    eventually(
      () => Promise.resolve(events),
      (all) => all.some((each) => Array.isArray(each) && each[0] === name),
    );

  it('starts with the first question, gets earlier notices in order, and answers', async () => {
    expect(host.isRunning).toBe(false);
    host.notifyIfRunning('note', 'said to nobody');
    const asked = host.call('echo', { bytes: new Uint8Array([1, 2]), none: undefined });
    host.notify('note', 'second');
    const first = await asked;
    expect(first).toMatchObject({ data: { some: 'data' }, told: ['first of all'] });
    expect(first.ask).toEqual({ bytes: new Uint8Array([1, 2]), none: undefined });
    expect((await host.call('echo', 1)).told).toEqual(['first of all', 'second']);
    expect(events).toEqual([
      ['noted', 'first of all'],
      ['noted', 'second'],
    ]);
    expect(first.pid === process.pid).toBe(kind === 'thread');
  });

  it('passes its service errors on, and reports a bug only to the log', async () => {
    await expect(host.call('refuse', 'not like this')).rejects.toMatchObject({
      code: 'conflict',
      message: 'not like this',
    });
    await expect(host.call('fail', null)).rejects.toMatchObject({ code: 'internal-error' });
    expect(bugs).toEqual([expect.stringContaining('fail: TypeError: a bug')]);
    expect(deaths).toEqual([]);
  });

  it('fails all questions in progress when it dies, and is started again by the next one', async () => {
    const lost = ['die', 'wait'].map((name) => host.call(name as 'die', null));
    for (const call of lost) await expect(call).rejects.toMatchObject({ code: 'internal-error' });
    expect(deaths).toHaveLength(1);
    expect(host.pending).toBe(0);
    expect((await host.call('echo', 1)).told).toEqual(['first of all']);
  });

  it('is started again by itself if it is kept alive', async () => {
    isKeptAlive = true;
    await host.call('echo', 1);
    host.kill();
    await eventually(
      () => Promise.resolve(events.length),
      (count) => count === 2,
    );
    expect(host.isRunning).toBe(true);
  });

  it('is told when a caller aborts a question', async () => {
    const left = new AbortController();
    const call = host.call('wait', null, { signal: left.signal });
    await event('waiting');
    left.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
    await event('cancelled');
    await expect(host.call('echo', 1, { signal: left.signal })).rejects.toThrow('left');
    expect(host.pending).toBe(0);
  });

  it('does not answer in time, so the call fails', async () => {
    await host.call('echo', 1);
    await expect(host.call('wait', null, { msMax: 20 })).rejects.toThrow(CallTimedOutError);
    expect((await host.call('echo', 2)).ask).toBe(2);
  });

  it('ends after a while without questions, and is started again by the next one', async () => {
    host = created(IDLE_MS_MAX);
    expect((await host.call('echo', 1)).ask).toBe(1);
    await event('closed');
    expect(host.isRunning).toBe(false);
    const left = new AbortController();
    const asked = host.call('wait', null, { signal: left.signal });
    await event('waiting');
    // As long as it has a question, it stays.
    await delay(10 * IDLE_MS_MAX);
    expect(events.map((each) => (each as readonly unknown[])[0])).toEqual([...['noted', 'closed', 'noted', 'waiting']]);
    left.abort(new Error('left'));
    await expect(asked).rejects.toThrow('left');
    await host.close();
    expect(deaths).toEqual([]);
  });

  it('ends in order when it is closed, and then refuses questions', async () => {
    await host.call('echo', 1);
    await Promise.all([host.close(), host.close()]);
    expect(events.at(-1)).toEqual(['closed', true]);
    expect(deaths).toEqual([]);
    await expect(host.call('echo', 1)).rejects.toMatchObject({ code: 'shutting-down' });
    expect(() => host.notify('note', '')).toThrow('stopping');
  });

  it('that fails to close ends all the same, and the error is reported', async () => {
    host.notify('note', 'fail to close');
    await host.close();
    expect(bugs).toEqual([expect.stringMatching(/^close: Error: cannot be closed\n/)]);
    expect(deaths).toEqual([]);
  });

  // A thread cannot be stopped in native code, and shares the memory of the service.
  if (kind === 'thread') return;

  it('is killed if it hangs in code without messages', async () => {
    await host.call('echo', 1);
    await expect(host.call('hang', null, { msMax: 50 })).rejects.toThrow(CallTimedOutError);
    await eventually(
      () => Promise.resolve(deaths),
      (all) => all.length === 1,
    );
    expect((await host.call('echo', 3)).ask).toBe(3);
  });

  it.runIf(process.platform === 'linux')(
    'can use a limited processor time for a question, however long it waits for a processor',
    async () => {
      const { pid } = await host.call('echo', 1);
      process.kill(pid, 'SIGSTOP');
      let isAnswered = false;
      const answer = host.call('echo', 2, { processorMsMax: 100 }).finally(() => {
        isAnswered = true;
      });
      // By the clock it would be late several times.
      await delay(500);
      expect(isAnswered).toBe(false);
      process.kill(pid, 'SIGCONT');
      expect((await answer).ask).toBe(2);
      await expect(host.call('hang', null, { processorMsMax: 100 })).rejects.toThrow(/100 ms of a processor/);
      await eventually(
        () => Promise.resolve(deaths),
        (all) => all.length === 1,
      );
    },
  );

  it('is killed if it uses too much memory', async () => {
    await expect(host.call('grow', null)).rejects.toMatchObject({ code: 'internal-error' });
    expect(deaths[0]?.message).toContain('more than 300 MiB');
  });

  it('can be restricted to reading files in given folders, without writing files and starting processes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-hosts-'));
    const file = join(folder, 'file');
    writeFileSync(file, 'as it was');
    expect(await host.call('may', file)).toEqual({ read: 'done', write: 'done', start: 'done' });
    writeFileSync(file, 'as it was');
    await host.close();
    host = created(undefined, [packageRoot()]);
    const denied = 'ERR_ACCESS_DENIED';
    expect(await host.call('may', file)).toEqual({ read: denied, write: denied, start: denied });
    expect(await host.call('may', join(packageRoot(), 'package.json'))).toMatchObject({ read: 'done', write: denied });
    expect(readFileSync(file, 'utf8')).toBe('as it was');
    rmSync(folder, { recursive: true });
  });

  it("gets none of the service's environment variables", async () => {
    const { pid } = await host.call('echo', 1);
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
    const names = environment.split('\0').map((each) => each.split('=')[0]);
    expect(names.filter((name) => name !== '' && name !== 'PATH' && !name?.startsWith('NODE_CHANNEL'))).toEqual([]);
  });
});

describe('a thread that starts after tuneGarbageCollection', () => {
  afterEach(() => {
    tuneGarbageCollection({ heapGrowthPercent: undefined });
  });

  it('has the flags of V8 restored after its start, even if it never posts a message', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-silent-'));
    const silent = join(folder, 'silent.mjs');
    const serving = new URL('../../../dist/src/platform/hosts/serve-host.js', import.meta.url).href;
    writeFileSync(
      silent,
      `import { serveHost } from '${serving}'; serveHost(() => ({ answers: {}, notices: { note: () => undefined } }));`,
    );
    tuneGarbageCollection({ heapGrowthPercent: 300 });
    const tuned = cachedDataVersionTag();
    const host = createWorkerThread<TestProtocol>({
      name: 'test',
      entry: silent,
      data: {},
      heapMibMax: 64,
      niceness: 0,
      onEvent: () => undefined,
      onDeath: () => undefined,
      onBug: () => undefined,
    });
    try {
      host.notify('note', 'starts it');
      expect(cachedDataVersionTag()).not.toBe(tuned);
      await expect.poll(() => cachedDataVersionTag()).toBe(tuned);
      expect(host.isRunning).toBe(true);
    } finally {
      await host.close();
      rmSync(folder, { recursive: true });
    }
  });
});
