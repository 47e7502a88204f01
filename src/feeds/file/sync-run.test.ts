import { readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MadeFolder, MadeSource, sync, SYNC_PATH } from '../../../test/support/feeds/made-source.js';
import { SourceFailedError, type SourceListener, type SourceRecord } from '../source/source-run.js';
import { readSyncFile, SyncFileDamagedError } from './sync-file.js';

let files: MadeFolder;
let source: MadeSource;
beforeEach(() => {
  files = new MadeFolder();
  source = new MadeSource();
});
afterEach(() => {
  files.remove();
});

async function inFile(): Promise<Record<string, unknown>> {
  const bytes = await files.read(SYNC_PATH);
  if (bytes === undefined) return {};
  const records: Record<string, unknown> = {};
  for await (const { line } of (await readSyncFile(bytes)).lines) {
    const { name, fields } = JSON.parse(line) as SourceRecord;
    records[name] = fields;
  }
  return records;
}

const numbered = (count: number) => Array.from({ length: count }, (_, number) => `r${String(number).padStart(3, '0')}`);

describe('runSync', () => {
  it('writes a header and the records in the order of their names', async () => {
    source.records.set('terns', { title: 'Terns', tags: ['a', 'b'], count: 2 });
    source.records.set('gannets', { title: 'Gannets', isLarge: true });
    expect(await sync(files, source)).toMatchObject({
      added: 2,
      changed: 0,
      removed: 0,
      unchanged: 0,
      record_count: 2,
      wasReplaced: true,
      requests: 1,
      bytes: 2,
    });
    expect(files.text(SYNC_PATH).split('\n')).toEqual([
      '{"gannet":"feed","format":1,"feed":"birds","provider":"made","fields":{"searchable_fields":[{"name":"title","weight":1}],"facets":[],"resources":[]},"record_count":2}',
      '{"name":"gannets","fields":{"isLarge":true,"title":"Gannets"}}',
      '{"name":"terns","fields":{"count":2,"tags":["a","b"],"title":"Terns"}}',
      '',
    ]);
    expect(readdirSync(files.dir)).toEqual([SYNC_PATH.replace('/', '_')]);
  });

  it('replaces the file only if something differs, in whatever order the source lists it', async () => {
    for (const name of numbered(30)) source.records.set(name, { title: name, other: 1 });
    await sync(files, source);
    const entries = [...source.records].reverse();
    source.records.clear();
    for (const [name, { title = '', other = 1 }] of entries) source.records.set(name, { other, title });
    expect(await sync(files, source)).toMatchObject({ unchanged: 30, wasReplaced: false });
    source.records.set('r007', { title: 'r007', other: 2 });
    expect(await sync(files, source)).toMatchObject({ changed: 1, unchanged: 29, wasReplaced: true });
    expect([files.replaced, source.kept]).toEqual([2, 3]);
  });

  it('removes what a complete listing lacks, but after an incomplete one only what is known to be gone', async () => {
    for (const name of numbered(10)) source.records.set(name, { title: name });
    await sync(files, source);
    source.isComplete = false;
    source.says = (listener) => {
      listener.record({ name: 'r000', fields: { title: 'r000' } });
      listener.gone('r001');
      listener.gone('r000');
      listener.skipped('r002', 'It answered 500.');
    };
    expect(await sync(files, source)).toMatchObject({
      removed: 1,
      unchanged: 9,
      skipped: [{ what: 'r002', why: 'It answered 500.' }],
    });
    source.isComplete = true;
    expect(await sync(files, source)).toMatchObject({ removed: 8, unchanged: 1, record_count: 1 });
    expect(source.confirmed).toEqual([]);
  });

  it('asks the source for each record first if more than half of at least 20 would be removed', async () => {
    for (const name of numbered(20)) source.records.set(name, { title: name });
    await sync(files, source);
    for (const name of numbered(20).slice(9)) source.records.delete(name);
    source.gone.add('r019');
    expect(await sync(files, source)).toMatchObject({ removed: 1, unchanged: 19 });
    expect(source.confirmed).toEqual([numbered(20).slice(9)]);
    for (const name of numbered(20).slice(10)) source.records.set(name, { title: name });
    source.records.delete('r019');
    expect(await sync(files, source)).toMatchObject({ removed: 1, added: 0, unchanged: 18 });
    expect(source.confirmed).toHaveLength(1);
  });

  it('leaves the file as it was if the source fails, the store is full, or the run is aborted', async () => {
    source.records.set('a', { title: 'A' });
    await sync(files, source);
    const before = files.text(SYNC_PATH);
    source.says = (listener) => {
      listener.record({ name: 'b', fields: { title: 'B' } });
      throw new SourceFailedError('It is down.');
    };
    await expect(sync(files, source)).rejects.toThrow('It is down.');
    source.says = undefined;
    source.records.set('b', { title: 'B' });
    files.room = 10;
    await expect(sync(files, source)).rejects.toThrow('the store is full');
    files.room = Infinity;
    const aborted = new AbortController();
    source.says = () => {
      aborted.abort(new Error('the service stops'));
    };
    await expect(sync(files, source, { signal: aborted.signal })).rejects.toThrow('the service stops');
    expect([files.text(SYNC_PATH), files.replaced, source.kept]).toEqual([before, 1, 1]);
    expect(readdirSync(files.dir)).toHaveLength(1);
  });

  it('reads everything again if the file is missing, damaged, truncated or older than the memory', async () => {
    source.records.set('a', { title: 'A' });
    source.records.set('b', { title: 'B' });
    await sync(files, source);
    const whole = files.text(SYNC_PATH);
    const file = files.at(SYNC_PATH);
    const spoilers = [
      () => truncateSync(file, 300),
      () => writeFileSync(file, 'x\n'),
      () => writeFileSync(file, whole.replace('"a"', '"z"')),
      () => truncateSync(file, 0),
    ];
    for (const spoil of spoilers) {
      spoil();
      source.freshness.length = 0;
      await sync(files, source);
      expect([files.text(SYNC_PATH), source.freshness]).toEqual([whole, [true]]);
    }
    source.says = (listener, isFresh) => {
      for (const name of ['a', 'b', 'c']) {
        if (isFresh) listener.record({ name, fields: { title: name.toUpperCase() } });
        else listener.unchanged(name);
      }
    };
    source.freshness.length = 0;
    expect(await sync(files, source)).toMatchObject({ added: 1, unchanged: 2 });
    expect(source.freshness).toEqual([false, true]);
  });

  it('notices damage within a line when a line is compared, and in a run that reads everything again', async () => {
    for (const name of ['a', 'b "quoted"']) source.records.set(name, { title: 'One', number: 1 });
    await sync(files, source);
    const whole = files.text(SYNC_PATH);
    const damage = () => writeFileSync(files.at(SYNC_PATH), whole.replace('"number":1', '"number":,'));
    const asItWas = (listener: SourceListener, isFresh: boolean) => {
      for (const [name, fields] of source.records) {
        if (isFresh || fields['title'] === 'Two') listener.record({ name, fields });
        else listener.unchanged(name);
      }
    };
    source.says = asItWas;
    damage();
    expect(await sync(files, source)).toMatchObject({ unchanged: 2, wasReplaced: false });
    expect(await sync(files, source, { isFresh: true })).toMatchObject({ wasReplaced: true, record_count: 2 });
    expect(files.text(SYNC_PATH)).toBe(whole);
    damage();
    source.records.set('b "quoted"', { title: 'Two', number: 1 });
    source.freshness.length = 0;
    expect(await sync(files, source)).toMatchObject({ wasReplaced: true, record_count: 2 });
    expect(source.freshness).toEqual([false, true]);
    expect(files.text(SYNC_PATH)).toBe(whole.replace(/(quoted.*)One/, '$1Two'));
  });

  it('fails if a source lists nothing and cannot be asked for each record, until that is confirmed', async () => {
    for (const name of ['a', 'b']) {
      source.records.set(name, { title: name });
      source.gone.add(name);
    }
    await sync(files, source);
    const before = files.text(SYNC_PATH);
    source.records.clear();
    source.asksForEach = false;
    await expect(sync(files, source)).rejects.toThrow('The 2 records that it had are kept');
    expect([files.text(SYNC_PATH), source.confirmed]).toEqual([before, [['a', 'b']]]);
    expect(await sync(files, source, { isEmptinessBelieved: true })).toMatchObject({ removed: 2, record_count: 0 });
    // Records that are deleted one by one are removed, even the last one.
    source.records.set('a', { title: 'A' });
    await sync(files, source);
    source.says = (listener) => listener.gone('a');
    expect(await sync(files, source)).toMatchObject({ removed: 1, record_count: 0 });
  });

  it('asks for each record before it removes all of them, however few there are', async () => {
    for (const name of ['a', 'b']) source.records.set(name, { title: name });
    await sync(files, source);
    source.records.clear();
    source.gone.add('b');
    expect(await sync(files, source)).toMatchObject({ removed: 1, unchanged: 1 });
    expect(source.confirmed).toEqual([['a', 'b']]);
  });

  it('keeps the first of two records of one name, and reports the other', async () => {
    source.says = (listener) => {
      listener.record({ name: 'a', fields: { title: 'first' } });
      listener.record({ name: 'a', fields: { title: 'second' } });
    };
    expect(await sync(files, source)).toMatchObject({ added: 1, skipped_count: 1 });
    expect(await inFile()).toEqual({ a: { title: 'first' } });
  });

  it('keeps the file equal to a model, whatever the source does', async () => {
    const step = fc.record({
      has: fc.dictionary(
        fc.constantFrom('a', 'b', 'ü', '😀'),
        fc.record({ title: fc.string({ unit: 'binary', maxLength: 3 }) }),
      ),
      gone: fc.subarray(['a', 'b', 'ü']),
      isComplete: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 5 }), async (steps) => {
        files.remove();
        files = new MadeFolder();
        for (const name of ['a', 'b', 'ü', '😀']) source.gone.add(name);
        const model = new Map<string, unknown>();
        for (const { has, gone, isComplete } of steps) {
          source.isComplete = isComplete;
          const names = Object.keys(has);
          source.says = (listener) => {
            for (const [name, fields] of Object.entries(has)) listener.record({ name, fields });
            for (const name of gone) listener.gone(name);
          };
          for (const name of model.keys())
            if (!names.includes(name) && (isComplete || gone.includes(name))) model.delete(name);
          for (const [name, fields] of Object.entries(has)) model.set(name, fields);
          const { record_count } = await sync(files, source);
          expect(record_count).toBe(model.size);
          expect(await inFile()).toEqual(Object.fromEntries(model));
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('readSyncFile', () => {
  it('throws SyncFileDamagedError wherever a file is truncated', async () => {
    for (const name of numbered(3)) source.records.set(name, { title: `${name} ü` });
    await sync(files, source);
    const bytes = Buffer.from(files.text(SYNC_PATH));
    for (let length = 0; length < bytes.length; length += 1) {
      const reading = readSyncFile(Readable.from([bytes.subarray(0, length)])).then(async ({ lines }) => {
        for await (const line of lines) void line;
      });
      await expect(reading).rejects.toThrow(SyncFileDamagedError);
    }
  });

  it('throws nothing but SyncFileDamagedError for any other bytes', async () => {
    const header = '{"gannet":"feed","format":1,"feed":"f","provider":"p","fields":{},"record_count":2}\n';
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('', header),
        fc.array(fc.oneof(fc.json(), fc.string())),
        async (first, lines) => {
          try {
            const reading = await readSyncFile(Readable.from([Buffer.from(first + lines.join('\n'))]));
            for await (const { name } of reading.lines) expect(typeof name).toBe('string');
          } catch (error) {
            expect(error).toBeInstanceOf(SyncFileDamagedError);
          }
        },
      ),
    );
  });
});
