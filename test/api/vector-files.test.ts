/**
 * Tests vectors in files: in their own files, in records, and as NumPy matrices; an interrupted import or export
 * leaves a clear state.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { floatsOf, npyOf } from '../support/npy.js';
import { startTestService, type TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const DIMENSIONS = 16;
const COUNT = 3000;

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startTestService({ env: { GANNET_INGEST_BATCH_RECORDS_MAX: '500' } });
  folder = mkdtempSync(join(tmpdir(), 'gannet-vectors-'));
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns a vector that points in a different direction for each number. */
const vectorOf = (number: number) =>
  Array.from({ length: DIMENSIONS }, (_, i) => Math.fround(Math.sin(number * 7 + i) + 0.01 * i));

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

interface Page {
  readonly results: readonly { readonly name: string; readonly vector?: number[]; readonly vectors?: number[][] }[];
}

async function vectorsOf(list: string): Promise<Map<string, number[] | number[][] | undefined>> {
  const { body, status, text } = await service.client.get(`/search-result/default/${list}`, {
    size: 100,
    vectors: true,
  });
  expect(status, text).toBe(200);
  return new Map((body as Page).results.map(({ name, vector, vectors }) => [name, vector ?? vectors]));
}

async function made(list: string, model: string | null = 'own'): Promise<void> {
  const answer = await service.client.post('/list/default', {
    name: list,
    searchable_fields: [{ name: 'title' }],
    model,
  });
  expect(answer.status, answer.text).toBe(201);
}

const asStored = (values: readonly number[]) => values.map((value) => Number(value.toPrecision(9)));

describe('a matrix next to records', () => {
  const rows = [0, 1, 2].map(vectorOf);

  it('gives each record its row, creates a list that is searched by vectors, and is exported unchanged', async () => {
    const names = fileOf('names.csv', 'name\nzero\none\n"two, or more"\n');
    const npy = fileOf('in.npy', npyOf(rows));
    const imported = await gannet(service.dataDir, 'import', names, '--npy', npy, '--list', 'columns', '--create');
    expect(imported).toMatchObject({ status: 0, notes: '' });
    expect(imported.output).toMatch(/^3 added, 0 replaced, 0 refused$/m);
    const { body } = await service.client.post('/search/default/columns/1', { vector: rows[1] });
    expect((body as { results: { name: string }[] }).results[0]?.name).toBe('one');

    const [csv, out] = [join(folder, 'out.csv'), join(folder, 'out.npy')];
    const exported = await gannet(
      service.dataDir,
      ...['export', '--list', 'columns', '--format', 'csv', '-o', csv, '--npy', out],
    );
    expect(exported.status, exported.notes).toBe(0);
    expect(exported.notes).toBe(`3 records written to ${csv}\n3 vectors written to ${out}\n`);
    expect(readFileSync(csv, 'utf8')).toBe('name\nzero\none\n"two, or more"\n');
    expect(floatsOf(out)).toEqual(rows.flat());
  });

  it('has zeros for a record without a vector, in imports and exports', async () => {
    const records = '{"name":"a","title":"x"}\n{"name":"b","title":"y"}\n';
    const npy = fileOf('zeros.npy', npyOf([rows[0] ?? [], rows[0]?.map(() => 0) ?? []]));
    const file = fileOf('zeros.ndjson', records);
    await gannet(service.dataDir, 'import', file, '--npy', npy, '--list', 'zeros', '--create');
    expect(await vectorsOf('zeros')).toEqual(
      new Map([
        ['a', asStored(rows[0] ?? [])],
        ['b', undefined],
      ]),
    );
    const out = join(folder, 'zeros-out.npy');
    expect((await gannet(service.dataDir, 'export', '--list', 'zeros', '--npy', out)).status).toBe(0);
    expect(floatsOf(out)).toEqual([...(rows[0] ?? []), ...Array<number>(DIMENSIONS).fill(0)]);
  });

  it('is refused for single records with unsuitable rows, and as a whole if it is no matrix', async () => {
    await made('strict');
    const first = await service.client.post('/search-result/default/strict', {
      name: 'first',
      fields: {},
      vector: rows[0],
    });
    expect(first.status).toBe(201);
    const file = fileOf('two.ndjson', '{"name":"a"}\n{"name":"b"}\n');
    const short = fileOf(
      'short.npy',
      npyOf([
        [1, 2],
        [3, 4],
      ]),
    );
    const refused = await gannet(service.dataDir, 'import', file, '--npy', short, '--list', 'strict');
    expect(refused.status).toBe(1);
    expect(refused.notes).toMatch(/line 1 \(a\): A vector of this list must have 16 numbers, not 2\./);
    const bad = fileOf('bad.npy', npyOf([rows[1] ?? [], rows[2]?.with(3, NaN) ?? []]));
    const partly = await gannet(service.dataDir, 'import', file, '--npy', bad, '--list', 'strict');
    expect(partly.output).toMatch(/^1 added, 0 replaced, 1 refused$/m);
    expect(partly.notes).toMatch(/line 2 \(b\): .*not NaN/);
    const cut = fileOf('cut.npy', npyOf(rows).subarray(0, 200));
    const none = await gannet(service.dataDir, 'import', file, '--npy', cut, '--list', 'strict');
    expect(none).toEqual({ status: 1, output: '', notes: expect.stringMatching(/cut\.npy ends too early/) as string });
    const more = await gannet(
      service.dataDir,
      'import',
      file,
      '--npy',
      fileOf('more.npy', npyOf(rows)),
      '--list',
      'strict',
    );
    expect(more.status).toBe(1);
    expect(more.notes).toMatch(/has 3 vectors, but the file has only 2 records/);
    await made('by-words', null);
    const wordless = await gannet(service.dataDir, 'import', file, '--npy', bad, '--list', 'by-words');
    expect(wordless.notes).toMatch(/The list does not accept vectors with its records/);
  });
});

describe('vectors in records', () => {
  it('are exported with them in every format, and imported again', async () => {
    await made('several');
    const several = [vectorOf(5), vectorOf(6)];
    const put = (body: object) => service.client.post('/search-result/default/several', body);
    await put({ name: 'one', fields: { title: 'One' }, vector: vectorOf(4) });
    await put({ name: 'two', fields: { title: 'Two' }, vectors: several });
    await put({ name: 'none', fields: { title: 'None' } });
    const expected = new Map<string, unknown>([
      ['one', asStored(vectorOf(4))],
      ['two', several.map(asStored)],
      ['none', undefined],
    ]);
    expect(await vectorsOf('several')).toEqual(expected);
    for (const format of ['ndjson', 'json', 'csv']) {
      const file = join(folder, `several.${format}`);
      const out = await gannet(
        service.dataDir,
        ...['export', '--list', 'several', '--format', format, '-o', file, '--vectors'],
      );
      expect(out.status, out.notes).toBe(0);
      await made(`from-${format}`);
      const back = await gannet(service.dataDir, 'import', file, '--list', `from-${format}`);
      expect(back.status, back.notes).toBe(0);
      expect(await vectorsOf(`from-${format}`)).toEqual(expected);
    }
    const npy = join(folder, 'several.npy');
    const refused = await gannet(service.dataDir, 'export', '--list', 'several', '--npy', npy);
    expect(refused.status).toBe(1);
    expect(refused.notes).toMatch(/The record "two" has 2 vectors, but a matrix has one row for each record/);
    expect(readdirSync(folder).filter((name) => name.startsWith('several.npy'))).toEqual([]);
  });

  it('are left out unless asked for, and if there are none', async () => {
    const plain = await service.client.get('/search-result/default/several', {});
    expect(plain.text).not.toContain('vector');
    await made('no-vectors', null);
    await service.client.post('/search-result/default/no-vectors', { name: 'a', title: 'x' });
    expect(await vectorsOf('no-vectors')).toEqual(new Map([['a', undefined]]));
  });
});

describe('an interrupted import or export', () => {
  const records = Array.from({ length: COUNT }, (_, i) => `{"name":"r${i}","title":"record ${i}"}\n`);
  let npy: string;
  beforeAll(async () => {
    npy = fileOf('many.npy', npyOf(records.map((_, i) => vectorOf(i))));
    const file = fileOf('many.ndjson', records.join(''));
    const { status, notes } = await gannet(service.dataDir, 'import', file, '--npy', npy, '--list', 'many', '--create');
    expect(status, notes).toBe(0);
  });

  function start(...argv: readonly string[]) {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_'));
    const env = { ...Object.fromEntries(inherited), GANNET_DATA_DIR: service.dataDir, GANNET_PORT: '0' };
    return spawn(process.execPath, ['bin/gannet.js', ...argv], { cwd: PACKAGE, env });
  }

  it('has given each imported record its own row if an import was killed, and can be repeated', async () => {
    const child = start('import', '-', '--npy', npy, '--list', 'killed', '--create');
    child.stdin.on('error', () => undefined);
    child.stdin.write(records.slice(0, 2000).join(''));
    await eventually(
      async () =>
        (await service.client.get('/search-result/default/killed', { size: 0 })).body as { total_count?: number },
      ({ total_count: count = 0 }) => count > 0,
    );
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
    const check = async () => {
      for (const [name, vector] of await vectorsOf('killed')) {
        expect([name, vector]).toEqual([name, asStored(vectorOf(Number(name.slice(1))))]);
      }
    };
    await check();
    const file = join(folder, 'many.ndjson');
    expect((await gannet(service.dataDir, 'import', file, '--npy', npy, '--list', 'killed')).status).toBe(0);
    await check();
    const { body } = await service.client.get('/search-result/default/killed', { size: 0 });
    expect(body).toMatchObject({ total_count: COUNT });
  });

  it('leaves no incomplete matrix under the final name if an export was killed, and the next is whole', async () => {
    const out = join(folder, 'killed.npy');
    // Cannot finish: the records do not fit into the pipe, and nobody reads them before the process has ended.
    const child = start('export', '--list', 'many', '--npy', out, '--vectors');
    const exited = once(child, 'exit');
    await eventually(
      () => Promise.resolve(existsSync(`${out}.unfinished`)),
      (is) => is,
    );
    child.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
    child.stdout.destroy();
    expect(existsSync(out)).toBe(false);
    expect((await gannet(service.dataDir, 'export', '--list', 'many', '--npy', out)).status).toBe(0);
    expect(floatsOf(out)).toEqual(floatsOf(npy));
    expect(existsSync(`${out}.unfinished`)).toBe(false);
  });

  itWhere(canMount('vectors on a full disk'), 'this process may not mount')(
    'leaves the existing file unchanged and ends with a sentence if the disk is full',
    async () => {
      const path = join(folder, 'full');
      const disk = SmallFileSystem.mount(path);
      try {
        const out = join(path, 'out.npy');
        writeFileSync(out, 'before');
        for (const freeBytes of [0, 65_536]) {
          if (freeBytes === 0) disk.shrink();
          else disk.shrinkTo(freeBytes);
          const { status, notes } = await gannet(service.dataDir, 'export', '--list', 'many', '--npy', out);
          expect(status).toBe(1);
          expect(notes).toMatch(/out\.npy cannot be used: there is no space left on the disk \(ENOSPC\)\.\n$/);
          expect(readFileSync(out, 'utf8')).toBe('before');
          expect(readdirSync(path)).toEqual(['out.npy']);
        }
        disk.grow();
        expect((await gannet(service.dataDir, 'export', '--list', 'many', '--npy', out)).status).toBe(0);
        expect(floatsOf(out)).toEqual(floatsOf(npy));
      } finally {
        disk.unmount();
      }
    },
  );
});
