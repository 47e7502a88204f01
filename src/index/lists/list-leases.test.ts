/** Whatever is replaced while a task runs: what the task was given stays valid until it has ended. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import { SeededRandom } from '../../../test/support/random.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { loadConfig } from '../../platform/config.js';
import { ServiceError, systemClock } from '../../platform/index.js';
import { createMetrics } from '../../platform/metrics.js';
import { RecordStoreCache } from '../../records/index.js';
import {
  createInlineExecutor,
  createListIndexes,
  type IngestExecutor,
  type IngestResult,
  type IngestTask,
  type ListIndex,
  type ListIndexes,
  type SearchSettings,
} from '../index.js';
import { pageOf } from '../../../test/support/list-reading.js';

type Hook = (task: IngestTask, when: 'before' | 'after') => Promise<void> | void;

/** Calls a hook before a task begins and before its result is taken. */
class HookedExecutor implements IngestExecutor {
  hook: Hook = () => undefined;
  constructor(private readonly inner: IngestExecutor) {}

  get waiting(): number {
    return this.inner.waiting;
  }
  waitingByAccount() {
    return this.inner.waitingByAccount();
  }
  async run<T extends IngestTask>(task: T): Promise<IngestResult<T>> {
    await this.hook(task, 'before');
    const result = await this.inner.run(task);
    await this.hook(task, 'after');
    return result;
  }
}

const settings: SearchSettings = {
  account: 'default',
  list: 'things',
  language: 'en',
  synonym_rules: [],
  query_rules: [],
};
const definition: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [{ name: 'group', type: 'string', cardinality: 'Single' }],
  resources: [],
  location_field: null,
  inferred: 'no',
};
const heavier: FieldDefinition = { ...definition, searchable_fields: [{ name: 'title', weight: 2 }] };

let dataDir: string;
let stores: RecordStoreCache;
let executor: HookedExecutor;
let indexes: ListIndexes;

function openAll(): void {
  stores = new RecordStoreCache();
  executor = new HookedExecutor(createInlineExecutor({ kernel, stores }));
  const config = loadConfig({ argv: [], env: { GANNET_INGEST_MERGE_FAN_IN: '3', GANNET_VERSIONS_KEPT: '1' } });
  const log = pino({ level: 'silent' });
  indexes = createListIndexes({ dataDir, kernel, executor, clock: systemClock, log, config, metrics: createMetrics() });
}
async function closeAll(): Promise<void> {
  await indexes.close();
  await stores.close();
}

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-leases-'));
  openAll();
});
afterEach(async () => {
  await closeAll();
  rmSync(dataDir, { recursive: true, force: true });
});

const encoder = new TextEncoder();
async function importRecords(list: ListIndex, records: readonly object[]) {
  const session = list.startImport('ndjson');
  await session.push(encoder.encode(records.map((record) => JSON.stringify(record)).join('\n')));
  return session.end();
}
const put = (list: ListIndex, name: string, group = 'kept') =>
  list.write({ kind: 'put', name, fields: { title: `word ${name}`, group } });
/** Deletes the records whose first column, the group, has this value. */
const deleteGroup = (list: ListIndex, group: string) =>
  list.deleteMatching(() =>
    new QueryPlanWriter().write({
      needTotal: true,
      skip: 0,
      size: 0,
      groups: [],
      filter: { op: 'in', column: 0, values: [group] },
      sort: [],
      facets: [],
    }),
  );

let rules = 0;
/** Returns settings that were never in force. */
function newSettings(): SearchSettings {
  rules += 1;
  return { ...settings, synonym_rules: [{ rule: rules }] };
}
function settingsInForce(list: ListIndex): unknown {
  const lease = list.lease();
  try {
    return (JSON.parse(kernel.generationSettings(lease.handle)) as SearchSettings).synonym_rules;
  } finally {
    lease.release();
  }
}
/** Lets everything run that only waits for its turn in the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; ++turn) await new Promise((resolve) => setImmediate(resolve));
}
/** Resolves at the next `when` of a task of this kind, and lets the task continue when `until` resolves. */
function stopAt(kind: IngestTask['kind'], when: 'before' | 'after', until: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    executor.hook = async (task, now) => {
      if (task.kind !== kind || now !== when) return;
      executor.hook = () => undefined;
      resolve();
      await until;
    };
  });
}
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('a change of settings', () => {
  it('before or after any task breaks none of them, and is effective at once', async () => {
    const list = await indexes.create('a1', settings, definition);
    const seen = new Set<string>();
    let last = settings;
    const merged = gate();
    executor.hook = async ({ kind }, when) => {
      last = newSettings();
      await list.applySettings(last);
      expect(settingsInForce(list)).toEqual(last.synonym_rules);
      if (when === 'after') seen.add(kind);
      if (kind === 'commit-merge' && when === 'after') merged.open();
    };
    for (const name of ['a', 'b', 'c', 'd']) await put(list, name);
    await merged.opened;
    await importRecords(list, [
      { name: 'e', title: 'word', group: 'doomed' },
      { name: 'a', title: 'anew' },
    ]);
    expect(await deleteGroup(list, 'doomed')).toBe(1);
    expect(await list.check()).toEqual([]);
    await list.reindex();
    // The second change drops the version that the first one froze.
    for (const next of [heavier, definition, heavier]) {
      await list.changeDefinition(next);
      while (list.versions().some(({ state }) => state === 'building')) await put(list, 'a');
    }
    while (list.versions().length > 2) await put(list, 'b');
    await indexes.clone('a1', 'b2', settings);
    expect(await list.check()).toEqual([]);
    expect(settingsInForce(list)).toEqual(last.synonym_rules);
    for (const kind of ['write-batch', 'bulk-batch', 'delete-matching', 'merge', 'commit-merge', 'reindex']) {
      expect(seen, kind).toContain(kind);
    }
    for (const kind of ['commit-reindex', 'start-build', 'build-step', 'drop-version', 'clone-list', 'check']) {
      expect(seen, kind).toContain(kind);
    }
  });

  it('does not wait for a write in progress', async () => {
    const list = await indexes.create('a1', settings, definition);
    await put(list, 'a');
    const { opened, open } = gate();
    const atWork = stopAt('write-batch', 'before', opened);
    // This write looks up the record that it replaces.
    const written = put(list, 'a');
    await atWork;
    const changed = newSettings();
    await list.applySettings(changed);
    expect(settingsInForce(list)).toEqual(changed.synonym_rules);
    open();
    expect((await written).outcome).toBe('updated');
    expect(settingsInForce(list)).toEqual(changed.synonym_rules);
  });
});

describe('dropping a version', () => {
  it('waits for a commit to it that is in progress', async () => {
    const list = await indexes.create('a1', settings, definition);
    const merged = gate();
    const lastStep = gate();
    // The merge of version 1 ends when version 3 is about to become current: its commit is next in the queue, and then
    // version 1 is one too many.
    executor.hook = async (task, when) => {
      if (task.kind === 'merge' && when === 'after') {
        merged.open();
        await lastStep.opened;
      }
      if (task.kind === 'build-step' && when === 'before' && task.building.version === 3) {
        lastStep.open();
        await turns(10);
      }
    };
    for (const name of ['a', 'b', 'c']) await put(list, name);
    await merged.opened;
    for (const [version, next] of [
      [2, heavier],
      [3, definition],
    ] as const) {
      await list.changeDefinition(next);
      while (list.currentVersion < version) await turns(1);
    }
    while (list.versions().some(({ version }) => version === 1)) await turns(1);
    await put(list, 'd');
    expect(await list.check()).toEqual([]);
    expect(list.versions().map(({ version }) => version)).toEqual([2, 3]);
  });
});

describe('deleting a list', () => {
  it('waits for its searches, and refuses every later call as list-not-found', async () => {
    const list = await indexes.create('a1', settings, definition);
    await put(list, 'a');
    const lease = list.lease();
    const removed = indexes.remove('a1');
    const gone = { code: 'list-not-found' };
    const calls: readonly (() => unknown)[] = [
      () => list.lease(),
      () => list.versions(),
      () => list.startImport('ndjson'),
      () => list.applySettings(newSettings()),
      () => indexes.open('a1', settings),
      () => indexes.clone('a1', 'b2', settings),
    ];
    for (const call of calls) await expect((async () => call())()).rejects.toMatchObject(gone);
    expect(list.sequence(1)).toBeUndefined();
    expect(kernel.generationInfo(lease.handle).liveCount).toBe(1);
    lease.release();
    await removed;
    await expect(put(list, 'b')).rejects.toMatchObject(gone);
    await expect(list.check()).rejects.toMatchObject(gone);
    // A thread that comes too late knows only the folder, and does not create it again. Another list exists, so the
    // disk is mounted.
    mkdirSync(join(dataDir, 'lists', 'b2'));
    expect(() => new RecordStoreCache().get(join(dataDir, 'lists', 'a1'))).toThrow('its records are not in');
    await expect(indexes.open('a1', settings)).rejects.toMatchObject(gone);
  });
});

/** Errors that a request may get while lists come and go around it. */
const REFUSALS = new Set(['list-not-found', 'shutting-down', 'overloaded', 'conflict', 'version-not-found']);
const SEEDS = [1, 2, 3, 4, 5, 6];
const STEPS = 120;
const NAMES = 12;

/** One list with every operation at once, and the records that it must have. */
class Turmoil {
  list!: ListIndex;
  settings = settings;
  private readonly expected = new Map<string, { readonly group: string } | undefined>();
  private readonly busy = new Set<string>();
  private readonly running = new Set<Promise<void>>();
  private clones = 0;

  constructor(
    private readonly random: SeededRandom,
    readonly id: string,
  ) {}

  start(): void {
    const action = this.random.pick<() => Promise<unknown>>([
      () => this.putOne(),
      () => this.putOne(),
      () => this.importMany(),
      () => this.deleteOneGroup(),
      () => this.changeSettings(),
      () => this.changeSettings(),
      () => this.list.changeDefinition(this.random.pick([definition, heavier])),
      () => this.list.check().then((problems) => expect(problems).toEqual([])),
      () => this.list.reindex(),
      () => this.clone(),
      () => this.readUnderLease(),
    ]);
    const done = Promise.resolve()
      .then(action)
      .catch((error: unknown) => {
        if (!(error instanceof ServiceError && REFUSALS.has(error.code))) throw error;
      })
      .then(() => undefined);
    this.running.add(done);
    // `settled` throws a failure.
    done.then(
      () => this.running.delete(done),
      () => undefined,
    );
  }

  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  async verify(): Promise<void> {
    expect(await this.list.check()).toEqual([]);
    expect(settingsInForce(this.list)).toEqual(this.settings.synonym_rules);
    const { records } = await pageOf(this.list, 0, 1000);
    const there = new Map(records.map(({ name, fields }) => [name, fields['group']]));
    const known = [...this.expected].flatMap(([name, record]) => (record ? [[name, [record.group]] as const] : []));
    expect([...there].sort()).toEqual(known.sort());
  }

  private async putOne(): Promise<void> {
    await this.owning([`n${this.random.below(NAMES)}`], async (names) => {
      for (const name of names) {
        await put(this.list, name, 'kept');
        this.expected.set(name, { group: 'kept' });
      }
    });
  }

  private async importMany(): Promise<void> {
    const wanted = Array.from({ length: 6 }, () => `n${this.random.below(NAMES)}`);
    await this.owning(wanted, async (names) => {
      await importRecords(
        this.list,
        names.map((name) => ({ name, title: `word ${name}`, group: 'kept' })),
      );
      for (const name of names) this.expected.set(name, { group: 'kept' });
    });
  }

  private async deleteOneGroup(): Promise<void> {
    await this.owning([`d${this.random.below(NAMES)}`], async ([name]) => {
      if (name === undefined) return;
      await put(this.list, name, name);
      this.expected.set(name, { group: name });
      expect(await deleteGroup(this.list, name)).toBe(1);
      this.expected.set(name, undefined);
    });
  }

  private async changeSettings(): Promise<void> {
    const changed = newSettings();
    await this.list.applySettings(changed);
    this.settings = changed;
  }

  private async clone(): Promise<void> {
    this.clones += 1;
    const id = `${this.id}-${this.clones}`;
    const copy = await indexes.clone(this.id, id, settings);
    expect(await copy.check()).toEqual([]);
    await indexes.remove(id);
  }

  private async readUnderLease(): Promise<void> {
    const lease = this.list.lease();
    try {
      const { liveCount } = kernel.generationInfo(lease.handle);
      for (let turn = this.random.below(20); turn > 0; --turn) {
        await turns(1);
        expect(kernel.generationInfo(lease.handle).liveCount).toBe(liveCount);
      }
    } finally {
      lease.release();
    }
  }

  /** Runs the action with those of the names that no other request writes. */
  private async owning(wanted: readonly string[], action: (names: readonly string[]) => Promise<void>): Promise<void> {
    const names = [...new Set(wanted)].filter((name) => !this.busy.has(name));
    if (names.length === 0) return;
    for (const name of names) this.busy.add(name);
    try {
      await action(names);
    } finally {
      for (const name of names) this.busy.delete(name);
    }
  }
}

describe('all operations at once', () => {
  it.each(SEEDS)('lose no record and cause no other error in the order of seed %i', async (seed) => {
    const random = new SeededRandom(seed);
    const turmoil = new Turmoil(random, 'a1');
    const wander = () => turns(random.below(4));
    executor.hook = wander;
    turmoil.list = await indexes.create('a1', settings, definition);
    for (let step = 0; step < STEPS; ++step) {
      turmoil.start();
      await wander();
      if (random.below(40) > 0) continue;
      await turmoil.settled();
      await closeAll();
      openAll();
      executor.hook = wander;
      turmoil.list = await indexes.open('a1', turmoil.settings);
    }
    await turmoil.settled();
    await turmoil.verify();
    // The list is deleted while operations are in progress.
    for (let step = 0; step < 20; ++step) turmoil.start();
    await wander();
    await indexes.remove('a1');
    await turmoil.settled();
  });
});
