import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { LIST_DEFINITION, LIST_SETTINGS } from '../../../test/support/lists-with-models.js';
import { loadConfig } from '../../platform/config.js';
import { EVERY_ROW, systemClock, type EventSink } from '../../platform/index.js';
import { createMetrics, type Metrics } from '../../platform/metrics.js';
import { RecordStoreCache } from '../../records/index.js';
import { createInlineExecutor, createListIndexes, type ListIndex, type ListIndexes } from '../index.js';
import { RestRegister } from './rest-register.js';

const OPEN_MAX = 4;
const LISTS = 12;
const ids = Array.from({ length: LISTS }, (_, list) => `list-${list}`);
const settingsOf = (id: string) => ({ ...LIST_SETTINGS, list: id });
const listed = () => ids.map((id) => ({ id, settings: settingsOf(id) }));

let dataDir: string;
let indexes: ListIndexes;
let stores: RecordStoreCache;
let metrics: Metrics;
let logged: string[];

function openAll({
  events,
  openMax = OPEN_MAX,
}: { readonly events?: EventSink; readonly openMax?: number } = {}): void {
  stores = new RecordStoreCache(2);
  metrics = createMetrics();
  logged = [];
  indexes = createListIndexes({
    dataDir,
    kernel,
    executor: createInlineExecutor({ kernel, stores }),
    clock: systemClock,
    log: pino({ level: 'warn' }, { write: (line: string) => logged.push(line) }),
    config: loadConfig({ argv: [], env: { GANNET_DATA_DIR: dataDir, GANNET_LISTS_OPEN_MAX: String(openMax) } }),
    metrics,
    ...(events === undefined ? {} : { events }),
  });
}

async function closeAll(): Promise<void> {
  await indexes.close();
  await stores.close();
}

async function restart(options: Parameters<typeof openAll>[0] = {}): Promise<void> {
  await closeAll();
  openAll(options);
}

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-resting-'));
  openAll();
});
afterEach(async () => {
  await closeAll();
  rmSync(dataDir, { recursive: true, force: true });
});

const gauge = async (name: 'listsOpen' | 'listOpenings') => (await metrics[name].get()).values[0]?.value ?? 0;
const openCount = () => gauge('listsOpen');
const openings = () => gauge('listOpenings');

async function makeAll(): Promise<void> {
  for (const id of ids) await indexes.create(id, settingsOf(id), LIST_DEFINITION);
}
const listOf = (id: string): Promise<ListIndex> => indexes.open(id, settingsOf(id));
const write = (list: ListIndex, name: string) => list.write({ kind: 'put', name, fields: { title: `word ${name}` } });

function countOf(list: ListIndex): number {
  const lease = list.lease();
  try {
    return kernel.generationInfo(lease.handle).liveCount;
  } finally {
    lease.release();
  }
}

/** Uses other lists until only those are left open that cannot be closed. */
async function useOthers(id: string): Promise<void> {
  for (const other of ids.filter((each) => each !== id).slice(0, 2 * OPEN_MAX)) countOf(await listOf(other));
}

async function untilAtRest(id: string): Promise<void> {
  const opened = async () => {
    await useOthers(id);
    return indexes.opened(id);
  };
  await expect.poll(opened, { interval: 5 }).toBeUndefined();
}

describe('more lists than GANNET_LISTS_OPEN_MAX', () => {
  it('are written and searched in any order, and no more than the limit stay open', async () => {
    await makeAll();
    expect(await openCount()).toBeLessThanOrEqual(OPEN_MAX);
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(ids, { minLength: LISTS }), async (order) => {
        round += 1;
        for (const id of order) {
          await write(await listOf(id), `record-${round}`);
          // A list whose segments are being merged, because there was no write for a second, is closed when the merge
          // is done.
          await expect.poll(openCount, { interval: 5 }).toBeLessThanOrEqual(OPEN_MAX);
        }
        for (const id of order.toReversed()) expect(countOf(await listOf(id))).toBe(round);
      }),
      { numRuns: 3 },
    );
    for (const id of ids) expect(await (await listOf(id)).check()).toEqual([]);
  });

  it('can all be used at once, and are closed afterwards', async () => {
    await makeAll();
    await Promise.all(ids.map(async (id) => write(await listOf(id), 'one')));
    const counts = await Promise.all(ids.map(async (id) => countOf(await listOf(id))));
    expect(counts).toEqual(ids.map(() => 1));
    await Promise.all(ids.map(async (id) => write(await listOf(id), 'two')));
    // Each of them had something to do, and is closed when it is done.
    await expect.poll(openCount).toBeLessThanOrEqual(OPEN_MAX);
  });

  it('can be used further through a reference from before they were closed', async () => {
    await makeAll();
    const list = await listOf('list-0');
    await write(list, 'one');
    await untilAtRest('list-0');
    const before = await openings();
    expect(list.versions()).toMatchObject([{ version: 1, record_count: 1, definition: LIST_DEFINITION }]);
    expect(list.currentVersion).toBe(1);
    expect(list.meaning()).toMatchObject({ state: 'off' });
    expect(indexes.outline('list-0')?.versions()).toEqual(list.versions());
    expect(await openings()).toBe(before);
    expect(countOf(list)).toBe(1);
    expect(await openings()).toBe(before + 1);
    await useOthers('list-0');
    await write(list, 'two');
    await useOthers('list-0');
    const session = list.startImport('ndjson');
    await session.push(Buffer.from('{"name":"three","title":"word"}\n'));
    await useOthers('list-0');
    expect(indexes.opened('list-0')).toBeDefined();
    expect(await session.end()).toMatchObject({ created: 1 });
    expect(countOf(list)).toBe(3);
  });

  it('are rebuilt if a segment disappeared meanwhile, and a held reference answers not-ready', async () => {
    await makeAll();
    const list = await listOf('list-0');
    await write(list, 'one');
    await untilAtRest('list-0');
    const folder = join(dataDir, 'lists', 'list-0', 'segments');
    for (const name of readdirSync(folder)) if (name.endsWith('.mdb')) rmSync(join(folder, name));
    expect(() => list.lease()).toThrow(expect.objectContaining({ code: 'not-ready' }));
    await expect.poll(async () => countOf(await listOf('list-0')), { interval: 5 }).toBe(1);
  });

  it('stay open while they are searched', async () => {
    await makeAll();
    const lease = (await listOf('list-0')).lease();
    await useOthers('list-0');
    expect(indexes.opened('list-0')).toBeDefined();
    lease.release();
    await untilAtRest('list-0');
  });

  it('are deleted, cloned and get other settings while they are closed', async () => {
    await makeAll();
    await write(await listOf('list-0'), 'one');
    const [first, second] = await Promise.all([listOf('list-0'), listOf('list-1')]);
    await useOthers('list-0');
    await first.applySettings({ ...settingsOf('list-0'), language: 'de' });
    await useOthers('list-0');
    const lease = first.lease();
    expect(kernel.generationSettings(lease.handle)).toContain('"language":"de"');
    lease.release();
    await useOthers('list-0');
    const copy = await indexes.clone('list-0', 'copy', settingsOf('copy'));
    expect(countOf(copy)).toBe(1);
    await useOthers('list-1');
    await indexes.remove('list-1');
    await expect(write(second, 'late')).rejects.toMatchObject({ code: 'list-not-found' });
    expect(() => second.lease()).toThrow(expect.objectContaining({ code: 'list-not-found' }));
  });

  it('finish building a version', async () => {
    await makeAll();
    const list = await listOf('list-0');
    await write(list, 'one');
    await list.changeDefinition({ ...LIST_DEFINITION, facets: [] });
    await useOthers('list-0');
    await expect.poll(() => list.currentVersion).toBe(2);
  });
});

describe('ListIndexes.resume after a start', () => {
  it('opens the lists that were used last, and no others without pending work', async () => {
    await makeAll();
    for (const id of ids) await write(await listOf(id), 'one');
    await listOf('list-3');
    await restart();
    await indexes.resume(listed);
    expect(await openCount()).toBe(OPEN_MAX);
    expect(indexes.opened('list-3')).toBeDefined();
    expect(indexes.opened('list-0')).toBeUndefined();
    for (const id of ids) expect(countOf(await listOf(id))).toBe(1);
    expect(await openings()).toBeLessThanOrEqual(LISTS + OPEN_MAX);
  });

  it('continues pending work in a list that nobody uses', async () => {
    await makeAll();
    const list = await listOf('list-0');
    await write(list, 'one');
    await list.changeDefinition({ ...LIST_DEFINITION, facets: [] });
    // The copy is the state that a process leaves when it is killed now.
    const copy = mkdtempSync(join(tmpdir(), 'gannet-resting-'));
    cpSync(dataDir, copy, { recursive: true });
    await closeAll();
    rmSync(dataDir, { recursive: true, force: true });
    dataDir = copy;
    openAll();
    await indexes.resume(listed);
    await expect.poll(() => indexes.outline('list-0')?.currentVersion).toBe(2);
  });

  it.each([
    ['is missing', (path: string) => rmSync(path)],
    ['is cut', (path: string) => truncateSync(path, 100)],
    ['is of another format', (path: string) => writeFileSync(path, '{"format":9,"lists":[]}')],
  ])('opens every list if the register of closed lists %s', async (_, harm) => {
    await makeAll();
    await closeAll();
    harm(join(dataDir, 'lists-at-rest'));
    openAll();
    await indexes.resume(listed);
    await expect.poll(openings).toBe(LISTS);
  });

  it('opens lists whose segments of words or vectors this release would write differently', async () => {
    await makeAll();
    const path = join(dataDir, 'lists-at-rest');
    for (const [written, other] of [
      [/"segments":"\d+\./u, '"segments":"0.'],
      [/(?<="segments":"\d+\.)\d+(?=\.)/u, '0'],
      [/(?<="segments":"\d+\.\d+\.)\d+"/u, '0"'],
      // As written by releases that compared only the format of words.
      [/(?<="segments":"\d+)\.[\d.]+"/u, '"'],
    ] as const) {
      await closeAll();
      const before = readFileSync(path, 'utf8');
      writeFileSync(path, before.replace(written, other));
      expect(readFileSync(path, 'utf8')).not.toBe(before);
      openAll();
      await indexes.resume(listed);
      await expect.poll(openings).toBe(LISTS);
    }
  });

  it('knows which lists were used last after a release whose segments it cannot use', () => {
    const print = 'none';
    const written = { format: 1, segments: '0.0.0', lists: ['list-2', 'list-0', 'list-1'].map((id) => [id, print, 1]) };
    writeFileSync(join(dataDir, 'lists-at-rest'), JSON.stringify(written));
    const register = new RestRegister({ dataDir, segmentFormat: '1', onFailure: () => undefined });
    expect(register.has('list-0')).toBe(false);
    expect(register.ids()).toEqual(['list-2', 'list-0', 'list-1']);
  });

  it('knows it also if the first start after such a release is killed when it has rebuilt some of them', async () => {
    await makeAll();
    await closeAll();
    const path = join(dataDir, 'lists-at-rest');
    const written = {
      format: 1,
      segments: '0.0.0',
      lists: ['list-2', 'list-0', 'list-1'].map((id) => [id, 'none', 1]),
    };
    writeFileSync(path, JSON.stringify(written));
    const open = () => new RestRegister({ dataDir, segmentFormat: '1', onFailure: () => undefined });
    const first = open();
    first.add('list-0', 7);
    await first.close();
    for (const register of [first, open()]) {
      expect(register.ids()).toEqual(['list-2', 'list-1', 'list-0']);
      expect(['list-2', 'list-1', 'list-0'].map((id) => register.records(id))).toEqual([undefined, undefined, 7]);
    }
    const second = open();
    second.remove('list-2');
    await second.close();
    expect(open().ids()).toEqual(['list-1', 'list-0']);
  });

  it('logs a list that cannot be opened, and opens the others', async () => {
    await makeAll();
    await closeAll();
    truncateSync(join(dataDir, 'lists', 'list-2', 'store', 'data.mdb'), 5000);
    openAll();
    await indexes.resume(listed);
    await expect.poll(() => logged.some((line) => line.includes('"id":"list-2"'))).toBe(true);
    await expect(listOf('list-2')).rejects.toMatchObject({ code: 'list-damaged' });
    for (const id of ids.filter((each) => each !== 'list-2')) expect(countOf(await listOf(id))).toBe(0);
  });
});

describe('the outline of a list that was closed before the start', () => {
  const outlineOf = async (id: string) => {
    const outline = await indexes.outlineAtRest(id, settingsOf(id));
    return outline && [outline.currentVersion, outline.versions(), outline.meaning(), outline.resources()];
  };
  const fileOf = (id: string) => join(dataDir, 'lists', id, 'at-rest');

  it('is the same as before the restart, and opens no list', async () => {
    await makeAll();
    for (const id of ids) await write(await listOf(id), 'one');
    const before = await Promise.all(ids.map(outlineOf));
    expect(before[0]?.[1]).toMatchObject([{ version: 1, record_count: 1, definition: LIST_DEFINITION }]);
    await restart();
    expect(await Promise.all(ids.map(outlineOf))).toEqual(before);
    expect(indexes.outline('list-0')?.versions()).toEqual(before[0]?.[1]);
    expect(await openings()).toBe(0);
    // The outline of a list that was written since is the current one.
    await write(await listOf('list-0'), 'two');
    await useOthers('list-0');
    await restart();
    expect((await outlineOf('list-0'))?.[1]).toMatchObject([{ record_count: 2 }]);
    expect(await outlineOf('list-1')).toEqual(before[1]);
    expect(await openings()).toBe(0);
  });

  it('is not read from a file of another state of the list', async () => {
    await makeAll();
    await closeAll();
    const older = readFileSync(fileOf('list-0'));
    openAll();
    await write(await listOf('list-0'), 'one');
    await closeAll();
    writeFileSync(fileOf('list-0'), older);
    openAll();
    expect(await outlineOf('list-0')).toBeUndefined();
    expect(countOf(await listOf('list-0'))).toBe(1);
    // The file is written again, because nothing else would show that it is wrong.
    await restart();
    expect((await outlineOf('list-0'))?.[1]).toMatchObject([{ record_count: 1 }]);
  });

  it('is not read from a file that is missing, truncated or changed at any place', async () => {
    await makeAll();
    await closeAll();
    const whole = readFileSync(fileOf('list-0'));
    openAll();
    const before = await outlineOf('list-0');
    expect(before).toBeDefined();
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), async (at, byte) => {
        const cut = whole.subarray(0, at);
        const changed = Buffer.from(whole);
        changed[at] = byte;
        for (const bytes of [cut, changed]) {
          await closeAll();
          writeFileSync(fileOf('list-0'), bytes);
          openAll();
          expect(await outlineOf('list-0')).toEqual(bytes.equals(whole) ? before : undefined);
        }
      }),
      { numRuns: 25 },
    );
    await closeAll();
    rmSync(fileOf('list-0'));
    openAll();
    expect(await outlineOf('list-0')).toBeUndefined();
    expect(await outlineOf('list-1')).toBeDefined();
  });

  it('does not exist if it could not be written, and opening the list works', async () => {
    await makeAll();
    mkdirSync(`${fileOf('list-11')}.new`);
    await restart();
    expect(await outlineOf('list-11')).toBeUndefined();
    expect((await listOf('list-11')).versions()).toMatchObject([{ version: 1 }]);
    expect(await outlineOf('list-1')).toBeDefined();
  });

  it('does not exist if the list was deleted', async () => {
    await makeAll();
    await restart();
    await indexes.remove('list-0');
    expect(await outlineOf('list-0')).toBeUndefined();
  });
});

describe('events of a closed list', () => {
  const sink = { moved: 0, isHeld: false, sources: new Set<string>() };
  const events: EventSink = {
    wanted: () => ['searchresult.created'],
    eventTime: (_account, nowMs) => nowMs,
    written: ({ id }) => sink.sources.add(id),
    movedTo: () => sink.moved,
    removableTo: () => (sink.isHeld ? 0 : sink.moved),
    drained: () => Promise.resolve(),
  };

  it('are reported again at a start unless all were fetched, even those that must be kept', async () => {
    await makeAll();
    await restart({ events });
    for (const [moved, isHeld, isTold] of [
      [0, false, true],
      [EVERY_ROW, false, false],
      [EVERY_ROW, true, false],
    ] as const) {
      Object.assign(sink, { moved, isHeld });
      await write(await listOf('list-0'), `record-${moved}-${isHeld}`);
      for (const id of ids.slice(1)) await listOf(id);
      sink.sources.clear();
      await restart({ events });
      sink.sources.clear();
      await indexes.resume(listed);
      if (isTold) await expect.poll(() => sink.sources.has('list-0')).toBe(true);
      else expect(sink.sources.has('list-0')).toBe(false);
    }
  });
});

describe('RestRegister', () => {
  it('reports no list as closed if it cannot read its file', () => {
    const options = { dataDir, segmentFormat: '1', onFailure: (error: unknown) => logged.push(String(error)) };
    const path = join(dataDir, 'lists-at-rest');
    const json = fc.json().map((text) => `{"format":1,"segments":"1","lists":${text}}`);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), json), (text) => {
        writeFileSync(path, text);
        const register = new RestRegister(options);
        expect(register.ids().some((id) => register.has(id))).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('writes its file again after a failure, without another change, and leaves no other file', async () => {
    const failures: unknown[] = [];
    const register = new RestRegister({ dataDir, segmentFormat: '1', onFailure: (error) => failures.push(error) });
    const path = join(dataDir, 'lists-at-rest');
    mkdirSync(join(path, 'in the way'), { recursive: true });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      register.add('list-0', 1);
      vi.runOnlyPendingTimers();
      await expect.poll(() => failures).toHaveLength(1);
      await expect.poll(() => vi.getTimerCount()).toBe(1);
      expect(readdirSync(dataDir)).not.toContain('lists-at-rest.new');
      rmSync(path, { recursive: true });
      vi.runOnlyPendingTimers();
      await expect.poll(() => existsSync(path)).toBe(true);
      expect(failures).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });
});
