/**
 * What stays in outboxes while a backup makes no progress for a while, or never: no more than is needed, and no
 * longer.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LIST_SETTINGS, ListsInFolder } from '../../test/support/lists-in-folder.js';
import { CollectionStore, openCatalog, type NewList } from '../catalog/index.js';
import { FolderStore } from '../media/folder/folder-store.js';
import type { PutOutcome, Upload } from '../media/index.js';
import {
  EVERY_ROW,
  joinedEventSinks,
  noEventSink,
  openEnvironment,
  Outbox,
  OUTBOX_DATABASE,
  ProgressBoard,
  systemClock,
  type EventSink,
  type LmdbEnvironment,
} from '../platform/index.js';
import { RecordStore } from '../records/index.js';
import { Backups } from './backups.js';
import { HeldRows } from './held-rows.js';

/** There is one list more than are sent at a time plus the one that is copied meanwhile, so the last one waits. */
const NAMES = ['a', 'b', 'c', 'd'];
const DEFINITION = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
} as const;
const ROWS_MAX = 50;
const PIECES = 'pieces/';
const SIGNAL = new AbortController().signal;

/** A folder store that holds the parts of backups back until it is told to accept them. */
class WaitingStore extends FolderStore {
  asked = 0;
  private isWaiting = true;
  private waiting: (() => void)[] = [];

  override async put(upload: Upload): Promise<PutOutcome> {
    if (upload.path.startsWith(PIECES)) {
      this.asked += 1;
      if (this.isWaiting) await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    return super.put(upload);
  }

  /** Accepts what has been sent until now. */
  answer(): void {
    for (const go of this.waiting.splice(0)) go();
  }

  answerAll(): void {
    this.isWaiting = false;
    this.answer();
  }
}

let folder: string;
let lists: ListsInFolder;
let system: LmdbEnvironment;
let store: WaitingStore;
let held: HeldRows;
let backups: Backups;
let ids: Map<string, string>;
const left: unknown[] = [];

/** An event sink that has each row as soon as it is written. */
const quick: EventSink = {
  ...noEventSink,
  wanted: () => ['searchresult.created', 'list.created'],
  movedTo: () => EVERY_ROW,
  removableTo: () => EVERY_ROW,
};
const newList = (name: string): NewList => ({
  account: 'default',
  name,
  engine: 'managed',
  language: 'en',
  query_rules: [],
  synonym_rules: [],
  model: null,
  reranker: null,
  suggestions: { require_click: false },
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-held-rows-'));
  lists = new ListsInFolder();
  const { dataDir } = lists;
  system = openEnvironment(join(dataDir, 'system'), { kind: 'system' });
  left.length = 0;
  held = new HeldRows({
    rowsMax: ROWS_MAX,
    remove: ({ id, kind }) =>
      kind === 'system' ? CollectionStore.of(system).removeToldRows() : (opened(id)?.removeToldRows() ?? nothing()),
    onLeft: (_source, error) => left.push(error),
  });
  const sink = joinedEventSinks([quick, held.events]);
  lists.open({ events: sink });
  const source = { id: 'system', kind: 'system', path: join(dataDir, 'system') } as const;
  CollectionStore.of(system).listen({ sink, source, clock: systemClock });
  const catalog = await openCatalog(system, systemClock);
  await catalog.createAccount('default', 'eu');
  ids = new Map();
  for (const name of NAMES) {
    const { id } = await catalog.createList(newList(name));
    ids.set(name, id);
    await lists.indexes.create(id, { ...LIST_SETTINGS, list: name }, DEFINITION);
  }
  mkdirSync(join(folder, 'stored'));
  store = new WaitingStore({
    path: join(folder, 'stored'),
    events: { uploaded: () => undefined, deleted: () => undefined },
  });
  const copied = { dataDir, system, environments: [], clock: systemClock, log: pino({ level: 'silent' }) };
  backups = new Backups(
    { ...copied, indexes: { printAtRest: () => undefined } },
    new ProgressBoard(),
    { apart: () => store },
    held,
  );
});
afterEach(async () => {
  store.answerAll();
  await backups.close();
  await lists.remove();
  await system.close();
  rmSync(folder, { recursive: true, force: true });
  expect(left).toEqual([]);
});

const nothing = () => Promise.resolve();
const idOf = (name: string) => ids.get(name) ?? '';
const opened = (id: string) => lists.indexes.opened(id);
const make = () => backups.make({ folder: 'media:nightly/of-films', account: 'default', keep: undefined }, SIGNAL);

let written = 0;
async function write(name: string): Promise<void> {
  written += 1;
  await opened(idOf(name))?.write({ kind: 'put', name: `r${written}`, fields: { title: 'one' } });
}

async function rowsOf(name: string): Promise<number> {
  const records = new RecordStore(lists.path(idOf(name)));
  try {
    return records.state()?.events === undefined ? 0 : records.outbox.read(0).length;
  } finally {
    await records.close();
  }
}

const systemRows = () => new Outbox(system.database(OUTBOX_DATABASE)).read(0).length;

it('Rows of a list are released when it is copied, and all rows when the last one is, even without a further change', async () => {
  // A file that is sent before any list: the store has not accepted it yet.
  writeFileSync(join(lists.dataDir, 'file'), 'content');
  const made = make();
  await expect.poll(() => store.asked, { interval: 1 }).toBe(1);
  for (const name of ['a', 'a', 'd', 'd']) await write(name);
  expect([await rowsOf('a'), await rowsOf('d')]).toEqual([2, 2]);
  store.answer();
  await expect.poll(() => rowsOf('a'), { interval: 1 }).toBe(0);
  // One list is being sent, and a second one is copied: the store has accepted none of them.
  await write('a');
  expect([await rowsOf('a'), await rowsOf('d')]).toEqual([0, 2]);
  await write('d');
  expect(await rowsOf('d')).toBe(3);
  store.answerAll();
  expect(await made).toMatchObject({ lists: NAMES.length });
  await expect.poll(() => rowsOf('d'), { interval: 1 }).toBe(0);
});

it('Rows are released when there are too many, and the backup fails, even one that makes no progress any more', async () => {
  const made = make();
  const failed = expect(made).rejects.toThrow(`more than ${ROWS_MAX} events were written`);
  await expect.poll(() => store.asked, { interval: 1 }).toBeGreaterThan(0);
  for (let row = 0; row < ROWS_MAX; row += 1) await write('d');
  expect(await rowsOf('d')).toBe(ROWS_MAX);
  await write('d');
  await failed;
  await expect.poll(() => rowsOf('d'), { interval: 1 }).toBe(0);
  for (let row = 0; row < ROWS_MAX; row += 1) await write('d');
  expect(await rowsOf('d')).toBe(0);
  await expect(make()).rejects.toThrow('A backup that was cancelled still waits');
  store.answerAll();
  await expect.poll(() => make().then(({ lists: count }) => count, String)).toBe(NAMES.length);
});

it('Rows of the catalogue are released with its last copy', async () => {
  writeFileSync(join(lists.dataDir, 'file'), 'content');
  const made = make();
  await expect.poll(() => store.asked, { interval: 1 }).toBe(1);
  const catalog = await openCatalog(system, systemClock);
  const { id } = await catalog.createList(newList('later'));
  await lists.indexes.create(id, { ...LIST_SETTINGS, list: 'later' }, DEFINITION);
  expect(systemRows()).toBe(1);
  store.answerAll();
  expect(await made).toMatchObject({ lists: NAMES.length + 1 });
  await expect.poll(systemRows, { interval: 1 }).toBe(0);
});
