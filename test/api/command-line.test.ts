/** Tests `gannet` as its own process: slowed down, stopped, and with others that disconnect or stop answering. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createControlSocket } from '../../src/http/index.js';
import { controlSocketPath } from '../../src/platform/index.js';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
/** The environment without the settings of services under test. */
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_')));
/** A download that was faster than the signal is repeated. */
const INTERRUPTIONS_MAX = 20;
const RECORDS = Array.from({ length: 3000 }, (_, index) => `{"name":"${index}","fields":{"text":"red"}}\n`).join('');

interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

class CommandProcess {
  output = '';
  notes = '';
  readonly ended: Promise<Ended>;

  constructor(readonly child: ChildProcessWithoutNullStreams) {
    child.stdout.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (this.notes += chunk.toString()));
    // A process that has ended takes no more input; the test looks at how it ended.
    child.stdin.on('error', () => undefined);
    this.ended = once(child, 'close').then(([status, signal]) => ({ status, signal }));
  }

  static start(dataDir: string, ...args: string[]): CommandProcess {
    const env = {
      ...inherited,
      GANNET_DATA_DIR: dataDir,
      GANNET_PORT: '0',
      GANNET_LOG_LEVEL: args[0] === 'serve' ? 'info' : 'warn',
    };
    return new CommandProcess(spawn(process.execPath, ['bin/gannet.js', ...args], { cwd: PACKAGE, env }));
  }
}

const running: CommandProcess[] = [];
function gannet(dataDir: string, ...args: string[]): CommandProcess {
  const command = CommandProcess.start(dataDir, ...args);
  running.push(command);
  return command;
}
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
});

describe('commands with a running service', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({});
    const { child, ended } = gannet(service.dataDir, 'import', '-', '--list', 'things', '--create');
    child.stdin.end(RECORDS);
    expect(await ended).toEqual({ status: 0, signal: null });
  });
  afterAll(() => service.close());

  it('keep the existing file if an export fails', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-export-'));
    const path = join(folder, 'things.ndjson');
    writeFileSync(path, 'of yesterday');
    const mistyped = gannet(service.dataDir, 'export', '--list', 'thing', '-o', path);
    expect((await mistyped.ended).status).toBe(1);
    expect(readFileSync(path, 'utf8')).toBe('of yesterday');
    expect((await gannet(service.dataDir, 'export', '--list', 'things', '-o', path).ended).status).toBe(0);
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(3001);
    expect(readdirSync(folder)).toEqual(['things.ndjson']);
    rmSync(folder, { recursive: true });
  });

  it('suggest similar names for unknown ones, and number the wrong records in a JSON array', async () => {
    const key = gannet(service.dataDir, 'key', 'create', '--scope', 'list', '--scope-target', 'thigns');
    await key.ended;
    expect(key.notes).toContain("Did you mean 'things'?");
    const halfScoped = gannet(service.dataDir, 'key', 'create', '--scope-target', 'things');
    expect((await halfScoped.ended).status).toBe(2);
    expect(halfScoped.notes).toBe('--scope-target needs --scope list or --scope group.\n');
    const lists = gannet(service.dataDir, 'list', '--account', 'defualt');
    await lists.ended;
    expect(lists.notes).toContain("There is no account 'defualt'. Did you mean 'default'?");
    const array = gannet(service.dataDir, 'import', '-', '--list', 'wrong', '--create', '--format', 'json');
    array.child.stdin.end('[{"name":"a","text":"x"},\n{"name":"b","text":{"x":1}}]');
    await array.ended;
    expect(array.notes).toMatch(/^ {2}record 2 \(b\): /m);
  });

  it('warn of prices with a decimal comma, also when a table is imported again', async () => {
    for (const outcome of ['1 added', '0 added, 1 replaced']) {
      const prices = gannet(service.dataDir, 'import', '-', '--list', 'prices', '--create', '--format', 'csv');
      prices.child.stdin.end('name;price\na;12,50\n');
      expect((await prices.ended).status).toBe(0);
      expect(prices.output).toContain(outcome);
      expect(prices.notes).toContain('gannet call facet.create --param list=prices --param name=price');
    }
  });

  it('leave no partial file if Ctrl-C interrupts a download', async () => {
    const bytes = Buffer.alloc(40_000_000, 'x');
    const put = await service.client.send('PUT', '/media/default/default/large.bin', { bytes });
    expect(put.status).toBe(201);
    const folder = mkdtempSync(join(tmpdir(), 'gannet-interrupted-'));
    const path = join(folder, 'large.bin');
    let isInterrupted = false;
    for (let round = 0; round < INTERRUPTIONS_MAX && !isInterrupted; round += 1) {
      rmSync(path, { force: true });
      const command = gannet(service.dataDir, 'media', 'get', 'large.bin', '-o', path);
      await eventually(
        () => Promise.resolve(readdirSync(folder)),
        (names) => names.length > 0,
      );
      command.child.kill('SIGINT');
      const ended = await command.ended;
      // The command may have finished before the signal.
      isInterrupted = !existsSync(path);
      expect(readdirSync(folder)).toEqual(isInterrupted ? [] : ['large.bin']);
      if (isInterrupted) expect(ended).toEqual({ status: null, signal: 'SIGINT' });
    }
    expect(isInterrupted).toBe(true);
    rmSync(folder, { recursive: true });
  });

  it('explain in a sentence that the reader of an export closed the pipe', async () => {
    // More than fits into the pipe.
    const text = 'x'.repeat(8000);
    const records = Array.from({ length: 500 }, (_, index) => ({ name: `${index}`, text }));
    await service.client.post('/list/default', { name: 'long' });
    expect((await service.client.bulk('default', 'long', records)).body).toMatchObject({ failed: 0 });
    const command = gannet(service.dataDir, 'export', '--list', 'long', '--format', 'json');
    command.child.stdout.once('data', () => command.child.stdout.destroy());
    expect(await command.ended).toEqual({ status: 1, signal: null });
    expect(command.notes).toMatch(/^Standard output could not be written completely: .*\(EPIPE\)\.\n$/);
  });

  itWhere(existsSync('/dev/full'), 'this system has no /dev/full')(
    'explain in a sentence that standard output is on a full disk',
    async () => {
      const full = openSync('/dev/full', 'w');
      const env = { ...inherited, GANNET_DATA_DIR: service.dataDir };
      for (const args of [['list'], ['export', '--list', 'things'], ['key', 'list', '--json'], ['--help']]) {
        const child = spawn(process.execPath, ['bin/gannet.js', ...args], {
          cwd: PACKAGE,
          env,
          stdio: ['ignore', full, 'pipe'],
        });
        let notes = '';
        child.stderr?.on('data', (chunk: Buffer) => (notes += chunk.toString()));
        const [status] = (await once(child, 'close')) as [number];
        expect([args, status, notes]).toEqual([args, 1, expect.stringMatching(/^Standard output .*\(ENOSPC\)\.\n$/)]);
      }
      closeSync(full);
    },
  );

  itWhere(existsSync('/dev/full'), 'this system has no /dev/full')(
    'delete a new key again if it could not be written to standard output',
    async () => {
      const keys = async () => {
        const { body } = await service.control().get('/api-key/default');
        return (body as { readonly keys: readonly unknown[] }).keys.length;
      };
      const before = await keys();
      const full = openSync('/dev/full', 'w');
      for (const more of [[], ['--json']]) {
        const child = spawn(process.execPath, ['bin/gannet.js', 'key', 'create', '--access', 'full', ...more], {
          cwd: PACKAGE,
          env: { ...inherited, GANNET_DATA_DIR: service.dataDir },
          stdio: ['ignore', full, 'pipe'],
        });
        let notes = '';
        child.stderr?.on('data', (chunk: Buffer) => (notes += chunk.toString()));
        const [status] = (await once(child, 'close')) as [number];
        expect([status, notes]).toEqual([
          1,
          expect.stringMatching(/\(ENOSPC\)\. The new key was not shown, so it was deleted\.\n$/),
        ]);
      }
      closeSync(full);
      expect(await keys()).toBe(before);
    },
  );

  it('warn that an import without names adds its records again, and suggest a field for the names', async () => {
    const imported = async (...args: string[]) => {
      const command = gannet(service.dataDir, 'import', '-', '--list', 'wares', '--create', '--format', 'csv', ...args);
      command.child.stdin.end('title,sku\nPen,s1\nInk,s2\n');
      expect(await command.ended).toEqual({ status: 0, signal: null });
      return command;
    };
    expect((await imported()).notes).toContain('adds them again. --name-from sku names them by that field');
    const named = await imported('--name-from', 'sku');
    expect([named.output, named.notes]).toEqual([expect.stringContaining('2 added, 0 replaced'), '']);
    expect((await imported('--name-from', 'sku')).output).toContain('0 added, 2 replaced');
  });

  it('import records from inside a document and flatten objects, and suggest the options for both', async () => {
    const document = JSON.stringify({ data: { items: [{ id: 7, by: [{ name: 'Ana' }, { name: 'Bo' }] }] } }, null, 2);
    const imported = async (list: string, ...args: string[]) => {
      const command = gannet(service.dataDir, 'import', '-', '--list', list, '--create', '--format', 'json', ...args);
      command.child.stdin.end(document);
      return { status: (await command.ended).status, output: command.output, notes: command.notes };
    };
    expect(await imported('papers')).toMatchObject({
      status: 1,
      notes: expect.stringContaining('--records data.items.'),
    });
    expect(await imported('papers', '--records', 'items')).toMatchObject({
      status: 1,
      notes: expect.stringContaining('no array at items'),
    });
    const lists = ['--records', 'data.items', '--name-from', 'id'];
    expect(await imported('papers', ...lists)).toMatchObject({
      status: 1,
      output: expect.stringContaining('1 refused'),
      notes: expect.stringMatching(/record 1 \(7\): .*\n.*'by' holds objects\. --flatten [^.]*\('by\.…'\)\.\n$/),
    });
    expect(await imported('papers', ...lists, '--flatten')).toMatchObject({ status: 0, notes: '' });
    expect(
      (await service.client.get('/search/default/papers/1?query=bo&filter=id = 7'.replaceAll(' ', '%20'))).body,
    ).toMatchObject({ results: [{ name: '7', fields: { 'by.name': ['Ana', 'Bo'] } }] });
  });

  it('name the fields that an export to CSV leaves out', async () => {
    await service.client.post('/list/default', { name: 'partly', searchable_fields: [{ name: 'title' }] });
    await service.client.bulk('default', 'partly', [{ name: 'a', title: 'Pen', shelf: 7 }]);
    const exported = async (format: string) => {
      const command = gannet(service.dataDir, 'export', '--list', 'partly', '--format', format);
      expect((await command.ended).status).toBe(0);
      return command;
    };
    const csv = await exported('csv');
    expect(csv.output).toBe('name,title\na,Pen\n');
    expect(csv.notes).toContain(
      'Left out of the CSV, which has only the fields that the list defines: "shelf". --format ndjson exports all fields.',
    );
    expect((await exported('ndjson')).notes).toBe('');
  });

  it('print no control or bidirectional characters from field names, in tables, notes and JSON', async () => {
    const evil = 'x\u001b[2J\u009b31m\u202ey';
    // Names that are defined cannot have control characters, but names of fields in records can.
    const definition = { name: 'evil', searchable_fields: [{ name: 'x\u202e31my' }] };
    expect((await service.client.post('/list/default', definition)).status).toBe(201);
    await service.client.bulk('default', 'evil', [{ name: 'a', [`other ${evil}`]: 'b' }]);
    const commands = [
      ['list'],
      ['export', '--list', 'evil', '--format', 'csv', '--output', join(service.dataDir, 'evil.csv')],
      ['call', 'list.read', '--param', 'list=evil'],
      [
        'call',
        'search.list',
        '--param',
        'list=evil',
        '--param',
        'version=1',
        '--body',
        JSON.stringify({ facets: [evil] }),
      ],
    ];
    for (const words of commands) {
      const command = gannet(service.dataDir, ...words);
      await command.ended;
      const shown = command.output + command.notes;
      expect(shown, words.join(' ')).toMatch(/evil|31m/);
      expect(shown, words.join(' ')).not.toMatch(/(?!\n)\p{Cc}|[\u202a-\u202e]/u);
    }
  });

  it('import a CSV export with the same values, and name the fields whose values change', async () => {
    const definition = {
      searchable_fields: [{ name: 'title' }],
      facets: [
        { name: 'one', type: 'string', cardinality: 'Single' },
        { name: 'several', type: 'string', cardinality: 'Many' },
        { name: 'numbers', type: 'number', cardinality: 'Many' },
      ],
      location_field: 'place',
    };
    const [from, to] = ['csv-from', 'csv-to'];
    for (const name of [from, to]) await service.client.post('/list/default', { name, ...definition });
    const texts = ['a|b', '[1]', '["a"]', ' a ', '\r\n', 'a\r\nb', '\ufffd', '"', 'sep=;', '12', 'a'];
    const records: unknown[] = texts.map((text, at) => ({
      name: `${text}${at}`,
      fields: { title: text, one: [text], several: [text], numbers: [at], place: { latitude: 1e-7, longitude: -at } },
    }));
    records.push({ name: 'many', fields: { several: ['', 'a|b'], numbers: [1, 2] } });
    records.push({ name: 'empty', fields: { several: [''] } });
    expect((await service.client.bulk('default', from, records)).body).toMatchObject({ failed: 0 });
    const file = join(mkdtempSync(join(tmpdir(), 'gannet-csv-')), 'list.csv');
    const exported = async () => {
      const command = gannet(service.dataDir, 'export', '--list', from, '--format', 'csv', '-o', file);
      expect((await command.ended).status).toBe(0);
      return command.notes;
    };
    expect(await exported()).not.toContain('as they are');
    expect((await gannet(service.dataDir, 'import', file, '--list', to).ended).status).toBe(0);
    const valuesOf = async (list: string) => {
      const { body } = await service.client.get(`/search-result/default/${list}`, { size: 100 });
      return (body as { results: { name: string; fields: object }[] }).results.map(({ name, fields }) => [
        name,
        fields,
      ]);
    };
    expect(await valuesOf(to)).toEqual(await valuesOf(from));

    const others = [{ title: '' }, { title: 7 }, { title: ['a', 'b'] }, { one: '' }, { several: ['x', 'y'] }];
    await service.client.bulk('default', from, others);
    expect(await exported()).toContain('changes some values of "title", "one":');
    rmSync(dirname(file), { recursive: true });
  });

  it('warn that a file has no records, and create no list for it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-nothing-'));
    const imported = async (list: string, file: string, text: string) => {
      writeFileSync(join(folder, file), text);
      const command = gannet(service.dataDir, 'import', join(folder, file), '--list', list, '--create');
      const { status } = await command.ended;
      return { status, told: command.notes, made: (await service.client.get(`/list/default/${list}`)).status === 200 };
    };
    await service.client.post('/list/default', { name: 'awaiting' });
    for (const [file, text, sentence] of [
      ['a.csv', '', 'a.csv is empty: there are no records to import'],
      ['a.csv', 'name,title\n', 'a.csv has only a header line: there are no records to import'],
      ['a.ndjson', '', 'a.ndjson is empty: there are no records to import'],
      ['a.json', '[]', 'a.json is an empty array: there are no records to import'],
    ] as const) {
      const told = expect.stringContaining(sentence) as string;
      expect(await imported('nothing', file, text)).toEqual({ status: 1, told, made: false });
      // Importing no records into a list that exists is no failure.
      expect(await imported('awaiting', file, text)).toEqual({ status: 0, told, made: true });
    }
    expect(await imported('nothing', 'a.json', '')).toMatchObject({ status: 1, made: false });
    rmSync(folder, { recursive: true });
  });

  it('delete a list that they created again if no record was imported, unless somebody else uses it', async () => {
    const imported = async (text: string, ...args: string[]) => {
      const command = gannet(service.dataDir, 'import', '-', '--list', 'in-vain', '--create', ...args);
      command.child.stdin.end(text);
      expect((await command.ended).status).toBe(1);
      return { notes: command.notes, status: (await service.client.get('/list/default/in-vain')).status };
    };
    const told = expect.stringContaining('No record was imported, so the list in-vain was deleted again.\n') as string;
    const refused = '{"name":"a","text":{"x":1}}\n';
    for (const [text, ...args] of [
      [refused],
      ['no record at all'],
      ['[{"name":"a"', '--format', 'json'],
      ['{"a":[{"name":"a","text":"x"},{"name"', '--format', 'json', '--records', 'a'],
      ['name,text\n"a', '--format', 'csv'],
    ] as const)
      expect([text, await imported(text, ...args)]).toEqual([text, { notes: told, status: 404 }]);

    const command = gannet(service.dataDir, 'import', '-', '--list', 'in-vain', '--create');
    command.child.stdin.write(refused);
    await eventually(
      async () => (await service.client.get('/list/default/in-vain')).status,
      (status) => status === 200,
    );
    await service.client.post('/search-result/default/in-vain', { name: 'of another', text: 'x' });
    command.child.stdin.end();
    expect((await command.ended).status).toBe(1);
    expect(command.notes).not.toContain('deleted');
    expect((await service.client.get('/list/default/in-vain')).body).toMatchObject({ record_count: 1 });
    expect(await imported(refused)).toEqual({ notes: expect.not.stringContaining('deleted') as string, status: 200 });
  });

  it('end an interrupted import with a sentence and by the signal', async () => {
    const command = gannet(service.dataDir, 'import', '-', '--list', 'interrupted', '--create');
    command.child.stdin.write(RECORDS);
    await eventually(
      async () => (await service.client.get('/list/default/interrupted')).status,
      (status) => status === 200,
    );
    command.child.kill('SIGINT');
    expect(await command.ended).toEqual({ status: null, signal: 'SIGINT' });
    expect(command.notes).toMatch(/^Interrupted\. .*\n$/);
  });

  it('stop the service cleanly if its terminal closes, however many signals arrive', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'gannet-hangup-'));
    // The setting comes from a file, as in no other test here.
    const settings = join(dataDir, '..', `${basename(dataDir)}.toml`);
    writeFileSync(settings, '[server]\nweb_server = "node"\n');
    const served = gannet(dataDir, 'serve', '--config', settings);
    await eventually(
      () => Promise.resolve(served.output),
      (text) => text.includes('Gannet is ready'),
    );
    expect(served.output).toMatch(/ready on http:\/\/127\.0\.0\.1:\d+ \(carried by Node\.js's own web server\)\n/);
    served.child.kill('SIGHUP');
    served.child.kill('SIGHUP');
    expect(await served.ended).toEqual({ status: 0, signal: null });
    expect(served.notes).toMatch(/"signal":"SIGHUP","msg":"Stopping: received a signal"/);
    rmSync(dataDir, { recursive: true });
    rmSync(settings);
  });

  it('explain in a sentence that the service was killed during an import', async () => {
    const other = await startTestService({});
    const command = gannet(other.dataDir, 'import', '-', '--list', 'killed', '--create');
    command.child.stdin.write(RECORDS);
    await eventually(
      async () => (await other.client.get('/list/default/killed')).status,
      (status) => status === 200,
    );
    await other.stop('SIGKILL');
    command.child.stdin.end(RECORDS);
    expect(await command.ended).toEqual({ status: 3, signal: null });
    expect(command.notes).toMatch(/^The service (closed the connection|on .* has stopped).*\.\n$/);
    await other.close();
  });
});

it("An import that pauses outlives the service's timeout for idle connections", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gannet-late-'));
  const calls: string[] = [];
  let received = 0;
  const control = createControlSocket(
    controlSocketPath(dataDir) ?? '',
    async (request) => {
      calls.push(`${request.method} ${request.path}`);
      if (request.path.endsWith('/bulk')) {
        for await (const chunk of request.stream(1e9)) received += chunk.byteLength;
      }
      const body = Buffer.from('{"created":1,"updated":0,"failed":0,"errors":[],"took_ms":1}');
      return { status: 200, headers: [], contentType: 'application/json', body, headOnly: false, close: false };
    },
    { keepAliveMs: 20 },
  );
  await control.listen();
  const command = gannet(dataDir, 'import', '-', '--list', 'things', '--create');
  await eventually(
    () => Promise.resolve(calls.length),
    (count) => count >= 1,
  );
  // Long compared with the 20 ms. If it were too short on some machine, the test would check less, and not fail.
  command.child.kill('SIGSTOP');
  await sleep(300);
  command.child.kill('SIGCONT');
  await sleep(300);
  command.child.stdin.end(RECORDS);
  expect([await command.ended, command.notes]).toEqual([{ status: 0, signal: null }, '']);
  expect(received).toBe(Buffer.byteLength(RECORDS));
  await control.close();
  rmSync(dataDir, { recursive: true });
});

const DEMO_MS_MAX = 900_000;
const SLOWED_MS = 8000;

it(
  'The demo runs to its end even if it is stopped again and again',
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'gannet-demo-'));
    const command = gannet(dataDir, 'demo', '--once');
    let hasEnded = false;
    const ended = command.ended.finally(() => (hasEnded = true));
    await eventually(
      () => Promise.resolve(hasEnded || command.output.includes('ready on')),
      (isReady) => isReady,
    );
    for (const endMs = performance.now() + SLOWED_MS; performance.now() < endMs && !hasEnded;) {
      command.child.kill('SIGSTOP');
      await sleep(900);
      command.child.kill('SIGCONT');
      await sleep(100);
    }
    expect([await ended, command.notes]).toEqual([{ status: 0, signal: null }, '']);
    expect(command.output).toContain('6. Around a point');
    rmSync(dataDir, { recursive: true, force: true });
  },
  DEMO_MS_MAX,
);
