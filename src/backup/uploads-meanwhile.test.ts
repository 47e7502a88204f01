/** Backups of the contents of files that are received, and moved to their place, while they are copied. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CollectionStore } from '../catalog/index.js';
import { BlobFolder } from '../media/built-in/blob-folder.js';
import { BuiltInStore } from '../media/built-in/built-in-store.js';
import { FileTable } from '../media/built-in/file-table.js';
import { NEVER, openEnvironment, ProgressBoard, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { DataCopy } from './data-copy.js';
import { filesBelow } from './file-keeping.js';
import { FolderTarget } from './folder-target.js';

const STORE = join('media', 'default', 'default');
const TEXT = 'all of the content';

/** Calls `taking` before it takes a file over, and `taken` after each file and folder. */
class WatchedTarget extends FolderTarget {
  taking = (_path: string): void => undefined;
  taken = (_path: string): void => undefined;

  override async keepFile(from: string, path: string): Promise<void> {
    this.taking(path);
    await super.keepFile(from, path);
    this.taken(path);
  }

  override async keepFolder(path: string, bytesShared: number): Promise<void> {
    await super.keepFolder(path, bytesShared);
    this.taken(path);
  }
}

let folder: string;
let dataDir: string;
let system: LmdbEnvironment;
let target: WatchedTarget;
/** Where the content is received, and where it is moved to when a transaction names it. */
let received: string;
let moved: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-uploads-'));
  dataDir = join(folder, 'data');
  for (const each of ['data', 'backup']) mkdirSync(join(folder, each));
  system = openEnvironment(join(dataDir, 'system'), { kind: 'system' });
  target = new WatchedTarget(join(folder, 'backup'), undefined);
  const body = Readable.from([Buffer.from(TEXT)]);
  await storeOf(dataDir, system).put({
    path: 'file',
    contentType: 'text/plain',
    bytes: undefined,
    body,
    isConditional: false,
    check: fine,
  });
  const [id = ''] = readdirSync(join(dataDir, STORE, 'blobs'));
  received = join(dataDir, STORE, 'incoming', id);
  moved = join(dataDir, STORE, 'blobs', id);
  renameSync(moved, received);
});
afterEach(async () => {
  await system.close();
  rmSync(folder, { recursive: true, force: true });
});

const fine = () => undefined;

function storeOf(at: string, environment: LmdbEnvironment): BuiltInStore {
  return new BuiltInStore({
    closing: NEVER,
    id: 'default/default',
    table: new FileTable(environment, CollectionStore.of(environment)),
    blobs: new BlobFolder(join(at, STORE)),
    limits: { bytesMax: 1000, filesMax: 10 },
    clock: systemClock,
    assertWanted: fine,
    assertMayGrow: () => Promise.resolve(),
    told: fine,
  });
}

async function copied(): Promise<void> {
  const log = pino({ level: 'silent' });
  const source = { dataDir, system, environments: [], clock: systemClock, log, indexes: { printAtRest: fine } };
  const rows = { begin: fine, release: fine, releaseAll: fine };
  const job = new ProgressBoard().begin({ kind: 'backup', subject: 'x', total: 1 });
  await new DataCopy(source, target, { job, signal: NEVER, rows }).copyAll();
}

/** Returns what a check of the copy finds after a start. */
async function problems(): Promise<readonly string[]> {
  const environment = openEnvironment(join(target.folder, 'system'), { kind: 'system' });
  try {
    const store = storeOf(target.folder, environment);
    await store.recover();
    return (await store.check()).problems;
  } finally {
    await environment.close();
  }
}

it('A content that is moved to its place after the folders were listed is in the backup', async () => {
  rmSync(received);
  target.taken = (path) => {
    if (path === 'system') writeFileSync(received, TEXT);
  };
  target.taking = (path) => {
    if (path.includes('/incoming/')) renameSync(received, moved);
  };
  await copied();
  expect(await problems()).toEqual([]);
});

it.each(['is moved to its place', 'is not moved yet'])(
  'A content that is received while the backup is made, and %s, is complete in the backup, once',
  async (how) => {
    writeFileSync(received, TEXT.slice(0, 3));
    let isComplete = false;
    target.taken = (path) => {
      if (isComplete || !(path.includes('/incoming/') || path === 'system')) return;
      isComplete = true;
      writeFileSync(received, TEXT);
      if (how === 'is moved to its place') renameSync(received, moved);
    };
    await copied();
    const contents = join(target.folder, STORE);
    const kept = await filesBelow(contents);
    expect(kept.map(({ path }) => readFileSync(join(contents, path), 'utf8'))).toEqual([TEXT]);
    expect(await problems()).toEqual([]);
  },
);
