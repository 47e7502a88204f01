/**
 * The system may read or write less than it was asked for, as on network file systems: what is kept in files is whole
 * anyway. Every read and write gets a tenth of what it asks for here.
 */
import fs, { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { noTextFile } from '../../src/cli/import-source.js';
import { NpyReader, NpyWriter } from '../../src/cli/npy/npy-file.js';
import { CrawlMemoryFile } from '../../src/feeds/crawl/crawl-memory-file.js';
import { PageLinks } from '../../src/feeds/crawl/page-links.js';
import { RunRecords } from '../../src/feeds/file/run-records.js';
import { openEnvironment } from '../../src/platform/index.js';
import { checkEnvironmentFile } from '../../src/platform/damaged-storage.js';
import { endsInOverlappingSync } from '../../src/platform/environment-file.js';
import { SecretKeys } from '../../src/platform/secrets/secret-keys.js';
import { storePrint } from '../../src/store/store-print.js';

type Call<Done> = (buffer: Uint8Array, offset: number, length: number, position: number) => Promise<Done>;
interface Handle {
  read: Call<{ readonly bytesRead: number }>;
  write: Call<{ readonly bytesWritten: number }>;
}

const PAGE_BYTES = 4096;
const FLAGS_AT = 24 + 28;
const OVERLAPPING_SYNC = 0x1000;
const { readSync, writeSync } = fs;
const part = (length: number) => Math.ceil(length / 10);
let folder: string;
let handle: Handle;
let whole: Pick<Handle, 'read' | 'write'>;

beforeAll(async () => {
  const opened = await open(tmpdir());
  handle = Object.getPrototypeOf(opened) as Handle;
  await opened.close();
  const { read, write } = handle;
  whole = { read, write };
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-partial-'));
});
afterEach(() => {
  inFull();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(inFull);

function inParts(): void {
  const patched = fs as { readSync: unknown; writeSync: unknown };
  patched.readSync = (
    file: number,
    buffer: Uint8Array,
    offset = 0,
    length = buffer.length,
    position: number | null = null,
  ) => readSync(file, buffer, offset, part(length), position);
  patched.writeSync = (
    file: number,
    given: Uint8Array | string,
    offset = 0,
    length?: number,
    position?: number | null,
  ) => {
    const bytes = Buffer.from(given as Uint8Array);
    return writeSync(file, bytes, offset, part(length ?? bytes.length - offset), position ?? null);
  };
  handle.read = function (this: Handle, buffer, offset, length, position) {
    return whole.read.call(this, buffer, offset, part(length), position);
  };
  handle.write = function (this: Handle, buffer, offset, length, position) {
    return whole.write.call(this, buffer, offset, part(length), position);
  };
  syncBuiltinESMExports();
}

function inFull(): void {
  Object.assign(fs, { readSync, writeSync });
  Object.assign(handle, whole);
  syncBuiltinESMExports();
}

it('records of a feed are whole', () => {
  const records = new RunRecords(join(folder, 'records'));
  records.record({ name: 'one', fields: { text: 'a text of some length' } });
  const line = records.line('one');
  inParts();
  expect(records.line('one')).toBe(line);
  records.close();
});

it('pages that a crawl remembers are whole', () => {
  const path = join(folder, 'crawl');
  const url = 'https://site.example/one';
  inParts();
  const first = new CrawlMemoryFile(path, { isFresh: true });
  const page = { names: ['one'], contentHash: 'hash of the text', links: PageLinks.of([`${url}/a`, `${url}/b`]) };
  for (let index = 0; index < 9000; index += 1) first.keepPage(`${url}/${index}`, page);
  first.commit();
  const next = new CrawlMemoryFile(path, { isFresh: false });
  for (const index of [8999, 0, 4000, 4500]) {
    const { names, links } = next.page(`${url}/${index}`) ?? {};
    expect([names, links?.urls]).toEqual([['one'], page.links.urls]);
  }
  next.discard();
});

it('the environment of a list is neither damaged nor changed', async () => {
  const store = join(folder, 'store');
  const environment = openEnvironment(store, { kind: 'system' });
  await environment.transaction(() => undefined);
  await environment.close();
  const file = join(store, 'data.mdb');
  const print = storePrint(folder);
  expect(print).toBeDefined();
  // As earlier releases have left it.
  const before = readFileSync(file);
  for (const page of [0, PAGE_BYTES]) before[page + FLAGS_AT + 1] = OVERLAPPING_SYNC >> 8;
  writeFileSync(join(folder, 'before.mdb'), before);
  inParts();
  checkEnvironmentFile(file);
  expect(endsInOverlappingSync(join(folder, 'before.mdb'))).toBe(true);
  expect(storePrint(folder)).toBe(print);
});

it('keys of secrets are written to their end', () => {
  const path = join(folder, 'secret-keys');
  inParts();
  const { id } = new SecretKeys({ path, given: [] }).newest();
  expect(new SecretKeys({ path, given: [] }).newest().id).toBe(id);
});

it('a file to import is known by how it begins', () => {
  const path = join(folder, 'records.csv');
  writeFileSync(path, Buffer.from('PK\x03\x04 and the rest of a workbook', 'latin1'));
  const what = noTextFile(path);
  expect(what).toBeDefined();
  inParts();
  expect(noTextFile(path)).toBe(what);
});

it('a matrix of vectors is read and written in full', async () => {
  const path = join(folder, 'vectors.npy');
  inParts();
  const writer = await NpyWriter.create(path);
  for (let row = 0; row < 5; row += 1) await writer.write(Float32Array.from([row, 1, 2]));
  await writer.end();
  const reader = await NpyReader.open(path);
  expect(reader.rows).toBe(5);
  for (let row = 0; row < 5; row += 1) expect([...((await reader.next()) ?? [])]).toEqual([row, 1, 2]);
  await reader.close();
});
