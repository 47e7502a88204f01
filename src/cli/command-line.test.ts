/**
 * What a user sees when a command cannot work: for every command, a sentence without a stack, and a meaningful exit
 * status.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { FEATURES } from '../features.js';
import { firstForm, isStreamBody, operations, type CommandSpec, type Operation } from '../operations/index.js';
import { EventCatalogue, controlSocketPath, OperatorError, packageRoot } from '../platform/index.js';
import { commandNames, runCommandLine } from './command-line.js';
import { CORE_COMMANDS } from './core-commands.js';
import { EXIT } from './exit-codes.js';
import { KNOWN_ROUTES } from './operation-routes.js';
import type { Output } from './output.js';
import type { ServiceLoader } from './service-loader.js';
import { WatchedStream } from './watched-stream.js';

const DECLARED = [...CORE_COMMANDS, ...FEATURES.flatMap(({ commands = [] }) => commands)];
const OPERATIONS = await allOperations();

/**
 * A call of every command with the arguments that it needs; declared commands have an example, unless their operation
 * defines the arguments.
 */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  serve: [],
  demo: ['--once'],
  restore: ['/nowhere/20261122T081500Z'],
  doctor: ['--data'],
  settings: [],
  'systemd-unit': [],
  mcp: [],
  'key create': [],
  'key list': [],
  'key delete': ['old'],
  'list ls': [],
  import: ['records.ndjson', '--list', 'books'],
  export: ['--list', 'books'],
  search: ['books', 'red'],
  reindex: ['--list', 'books'],
  analytics: ['books'],
  call: ['list.read', '--param', 'list=books'],
  'media put': ['records.ndjson', 'a'],
  'media get': ['a'],
  'media list': [],
  'media delete': ['a'],
  'media-store list': [],
  'media-store add': ['shared', '--kind', 'folder', '--folder', '/srv'],
  'media-store delete': ['shared'],
  'webhook list': [],
  'webhook create': ['--url', 'https://example.com/', '--events', 'list.created'],
  'webhook delete': ['id'],
  'webhook test': ['id'],
  'webhook secret': ['id'],
  'webhook rotate-secret': ['id'],
  'webhook deliveries': ['id'],
  'webhook replay': ['id'],
  ...Object.fromEntries(DECLARED.map((spec) => [spec.name, spec.example ?? callOf(spec)])),
};
const ALL = Object.keys(CALLS);

/** Returns the arguments without which the command's operation cannot be called. */
function callOf({ operation: wanted, arguments: typed = [], secrets = [] }: CommandSpec): string[] {
  const { params, query, body } = OPERATIONS.find(({ name }) => name === wanted) as Operation;
  const schemas = [params, query, body === undefined || isStreamBody(body) ? undefined : body];
  const forms: ({ required?: string[] } | undefined)[] = schemas.map(firstForm);
  const required = forms.flatMap((form) => form?.required ?? []);
  const named = required.filter((name) => name !== 'account' && !typed.includes(name) && !secrets.includes(name));
  return [...typed.map(() => 'x'), ...named.flatMap((name) => [`--${name.replaceAll('_', '-')}`, 'x'])];
}

/** These commands read secrets from standard input before they look for the service. */
const ASKING = DECLARED.flatMap(({ name, secrets = [] }) => (secrets.length === 0 ? [] : [name]));
/**
 * The other commands start a service, call none, or continue after problems, so that they report problems differently.
 */
const CALLING = ALL.filter(
  (name) => !['serve', 'demo', 'restore', 'doctor', 'settings', 'systemd-unit', 'mcp', ...ASKING].includes(name),
);

const folders: string[] = [];
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(
    servers.splice(0).map(async (server) => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }),
  );
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface Surroundings {
  readonly dataDir: string;
  readonly records: string;
  readonly config: string;
}

function surroundings(): Surroundings {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-cli-'));
  folders.push(folder);
  const records = join(folder, 'records.ndjson');
  writeFileSync(records, '{"name":"one","fields":{"text":"red"}}\n'.repeat(1000));
  const config = join(folder, 'gannet.toml');
  writeFileSync(config, '');
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  return { dataDir, records, config };
}

/** Listens on the control socket of this data directory in place of the service. */
async function listenInstead({ dataDir }: Surroundings, listener: RequestListener): Promise<void> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(controlSocketPath(dataDir), resolve));
}

/** Answers a health check, and `then` every other request. */
const healthyThen =
  (then: RequestListener): RequestListener =>
  (message, response) => {
    if (message.url === '/health') response.end('{"status":"ok"}');
    else then(message, response);
  };

const answering = (status: number, body: string): RequestListener =>
  healthyThen((message, response) => {
    message.resume().once('end', () => response.writeHead(status).end(body));
  });

async function allOperations(): Promise<readonly Operation[]> {
  const declared = { events: new EventCatalogue(FEATURES.map(({ events = {} }) => events)) };
  const parts = await Promise.all(FEATURES.map(({ load }) => load()));
  const ofFeatures = parts.flatMap((each) =>
    typeof each.operations === 'function' ? each.operations(declared) : each.operations,
  );
  return [...operations, ...ofFeatures];
}

describe('routes in src/cli/operation-routes.ts', () => {
  it('are those of the registry', () => {
    const registered = new Map(OPERATIONS.map(({ name, method, path }) => [name, { name, method, path }]));
    for (const [name, route] of KNOWN_ROUTES) expect(route).toEqual(registered.get(name));
  });

  it('exist for all operations that commands name', () => {
    const folder = join(packageRoot(), 'src', 'cli');
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/(?:\.test|core-commands|operation-routes)\.ts$/.test(name))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
    const named = OPERATIONS.filter(({ name }) => sources.includes(`'${name}'`)).map(({ name }) => name);
    const declared = DECLARED.map(({ operation }) => operation);
    const wanted = new Set([...named, ...declared]);
    const rows = OPERATIONS.filter(({ name }) => wanted.has(name) && !KNOWN_ROUTES.has(name)).map(
      ({ name, method, path }) => `  '${name}': ['${method}', '${path}'],`,
    );
    expect(rows, 'A command names these operations: put these rows into ROUTES of src/cli/operation-routes.ts').toEqual(
      [],
    );
    expect(
      [...KNOWN_ROUTES.keys()].filter((name) => !wanted.has(name)),
      'No command names these operations any more: take their rows out of src/cli/operation-routes.ts',
    ).toEqual([]);
  });

  it.each(DECLARED.map(({ name }) => name))('let gannet %s work without loading the registry', async (name) => {
    const at = surroundings();
    await listenInstead(at, answering(500, '{"code":"internal-error","detail":"Asked."}'));
    const { status, text } = await gannet(name, at, {
      load: () => Promise.reject(new Error('The composition root was loaded')),
    });
    expect([status, text]).toEqual([EXIT.failed, expect.not.stringContaining('composition root')]);
  });
});

/** Loads a service that cannot open its data directory. */
const failingWith = (failure: Error): ServiceLoader => {
  const fail = () => Promise.reject(failure);
  return () =>
    Promise.resolve({
      endProcess: () => undefined,
      startService: fail,
      adoptUnknownLists: fail,
      findMissingSegments: fail,
      restoreData: fail,
      allOperations: () => Promise.resolve(OPERATIONS),
    });
};

const cannotOpen = failingWith(new OperatorError('The data directory is in use.'));

interface Told {
  readonly status: number;
  readonly text: string;
}

interface Settings {
  readonly load?: ServiceLoader;
  readonly stream?: Writable;
  /** Arguments after the others. */
  readonly more?: readonly string[];
  /** Standard input, in pieces. */
  readonly input?: readonly string[];
}

async function gannet(name: string, at: Surroundings, settings: Settings = {}): Promise<Told> {
  const args = (CALLS[name] ?? []).map((argument) => (argument === 'records.ndjson' ? at.records : argument));
  // Only commands that must have a secret read it.
  const input = ASKING.includes(name) ? ['a-secret\n'] : [];
  return gannetWith(['node', 'gannet', ...name.split(' '), ...args, ...(settings.more ?? [])], at, {
    input,
    ...settings,
  });
}

async function gannetWith(
  argv: readonly string[],
  at: Surroundings,
  { load = cannotOpen, stream = sink(), input = [] }: Settings = {},
): Promise<Told> {
  let text = '';
  const standardOutput = new WatchedStream(stream, 'Standard output');
  const output: Output = {
    isTerminal: false,
    columns: 80,
    write: (written) => {
      standardOutput.write(written);
    },
    settle: () => standardOutput.settle(),
    note: (written) => {
      text += written;
    },
  };
  const env = { GANNET_DATA_DIR: at.dataDir, GANNET_PORT: '0' };
  const status = await runCommandLine([...argv, '--config', at.config], load, {
    output,
    env,
    input: Readable.from(input),
  });
  return { status, text };
}

const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });

/** A stream that accepts nothing, like a pipe whose reader has gone or a file on a full disk. */
const failing = (code: string) =>
  new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`${code}: write`), { code, syscall: 'write' })),
  });

function expectSentence({ status, text }: Told, sentence: RegExp, exit: number): void {
  expect(text).toMatch(sentence);
  expect(text).not.toMatch(/\n\s+at |failed because of a bug|\[object|undefined/);
  expect(status).toBe(exit);
}

it('The table of calls has every command', () => {
  expect(ALL.sort()).toEqual(commandNames().sort());
});

describe.each(ALL)('gannet %s', (name) => {
  it('reports settings files that are missing, not TOML, or have unknown settings', async () => {
    const at = surroundings();
    expectSentence(
      await gannet(name, { ...at, config: '/nowhere/x' }),
      /settings file \/nowhere\/x cannot be read/,
      EXIT.usage,
    );
    for (const broken of ['[server', 'port = 8400', '[server]\nport = "many"\n']) {
      writeFileSync(at.config, broken);
      expectSentence(await gannet(name, at), /gannet\.toml/, EXIT.usage);
    }
  });
});

describe.each(CALLING)('gannet %s', (name) => {
  it('reports that no service runs and the data directory cannot be opened', async () => {
    expectSentence(await gannet(name, surroundings()), /^The data directory is in use\.\n$/, EXIT.unavailable);
  });

  it('reports why the system refuses to open the data directory', async () => {
    for (const code of ['EACCES', 'ENOSPC', 'EMFILE', 'EROFS']) {
      const failure = Object.assign(new Error(`${code}: open`), { code, syscall: 'open', path: '/data/lock' });
      expectSentence(
        await gannet(name, surroundings(), { load: failingWith(failure) }),
        new RegExp(`^/data/lock .*${code}.*\\.\n$`),
        1,
      );
    }
  });

  it('reports that the service ended at once, or in the middle of the call', async () => {
    const endings: readonly RequestListener[] = [
      (message) => message.socket.destroy(),
      healthyThen((message) => message.socket.destroy()),
      healthyThen((message, response) => {
        response.writeHead(200, { 'Content-Length': 1000 });
        response.write('{"results":[', () => message.socket.destroy());
      }),
    ];
    for (const ending of endings) {
      const at = surroundings();
      await listenInstead(at, ending);
      expectSentence(await gannet(name, at), /^The service closed the connection .*\.\n$/, EXIT.unavailable);
    }
  });

  it("reports an answer that is not the service's", async () => {
    const at = surroundings();
    await listenInstead(at, answering(502, '<html>Bad gateway</html>'));
    expectSentence(await gannet(name, at), /^The service answered 502/, EXIT.failed);
  });

  it('passes on the problem that the service answers', async () => {
    const at = surroundings();
    const problem = { type: 'x', title: 'x', status: 507, code: 'disk-full', detail: 'There is no space left.' };
    await listenInstead(at, answering(507, JSON.stringify(problem)));
    expectSentence(await gannet(name, at), /There is no space left\. \[507 disk-full\]\n$/, EXIT.failed);
  });
});

describe('a failure of standard output', () => {
  const ANSWERS: Readonly<Record<string, string>> = {
    'list ls': '{"lists":[]}',
    'key list': '{"keys":[]}',
    progress: '{"jobs":[]}',
    'service settings': '{"settings":[]}',
    'webhook list': '{"webhooks":[]}',
    'media list': '{"files":[]}',
    'media-store list': '{"media_stores":[]}',
    export: '{"results":[{"name":"one","fields":{"text":"red"}}]}',
    import: '{"created":1,"updated":0,"failed":0,"errors":[],"took_ms":1}',
    reindex: '{"records":1,"took_ms":1}',
  };

  it.each(Object.keys(ANSWERS))('is reported by gannet %s', async (name) => {
    for (const [code, reason] of [
      ['EPIPE', 'whoever read it has gone away'],
      ['ENOSPC', 'there is no space left'],
    ] as const) {
      const at = surroundings();
      await listenInstead(at, answering(200, ANSWERS[name] ?? ''));
      const told = await gannet(name, at, { stream: failing(code) });
      expectSentence(told, new RegExp(`^Standard output could not be written completely: ${reason} `), EXIT.failed);
    }
  });

  it('ends an export', async () => {
    const at = surroundings();
    let pages = 0;
    const page = JSON.stringify({ results: Array.from({ length: 1000 }, () => ({ name: 'one', fields: {} })) });
    await listenInstead(
      at,
      healthyThen((_message, response) => {
        pages += 1;
        response.end(page);
      }),
    );
    expectSentence(await gannet('export', at, { stream: failing('EPIPE') }), /^Standard output could not/, EXIT.failed);
    expect(pages).toBe(1);
  });
});

it('Commands that read or change data create nothing in a folder where no service was', async () => {
  const looking = [
    'list',
    'search',
    'export',
    'reindex',
    'analytics',
    'key list',
    'progress',
    'media list',
    'webhook list',
    'feed list',
    // These commands change data, or would copy nothing and call it a backup.
    'backup',
    'webhook test',
    'webhook replay',
    'feed sync',
    'model test',
    'account delete',
    'synonym suggest',
  ];
  for (const name of looking) {
    const at = surroundings();
    const nowhere = { ...at, dataDir: join(at.dataDir, 'nowhere') };
    const told = await gannet(name, nowhere);
    expectSentence(told, /^There is no data directory .*nowhere\. .*set GANNET_DATA_DIR\.\n$/, EXIT.unavailable);
    expect(existsSync(nowhere.dataDir)).toBe(false);
  }
});

// `mcp` is left out: it waits for requests of an agent.
describe.each(ALL.filter((name) => name !== 'mcp'))('gannet %s', (name) => {
  it('sends the account that is given, or has no option for it', async () => {
    const at = surroundings();
    let asked = '';
    await listenInstead(at, (message, response) => {
      asked += message.url ?? '';
      message.on('data', (chunk) => (asked += String(chunk)));
      message.on('end', () => {
        if (message.url === '/health') response.end('{"status":"ok"}');
        else response.writeHead(404).end('{"code":"account-not-found","detail":"There is no such account."}');
      });
    });
    const { text } = await gannet(name, at, { more: ['--account', 'nosuch'] });
    if (!/unknown option '--account'|--account needs a backup in a media store/.test(text))
      expect(asked).toContain('nosuch');
  });
});

it.each([
  [['backup', '/srv', '--account', 'a'], /^--account needs a backup in a media store/],
  [['backup', 'list', '/srv', '--account', 'a'], /^--account needs a backup in a media store/],
  [['backup', 'check', '/srv', '--account', 'a'], /^--account needs a backup in a media store/],
  [['restore', '/srv', '--account', 'a'], /^--account needs a backup in a media store/],
  [['account', 'list', '--account', 'a'], /unknown option '--account'/],
  [['call', 'account.list', '--account', 'a'], /^account.list takes no account/],
  [['call', '--param', 'list=a'], /^Name the operation/],
  [['call', 'list.read', '--param', 'list=a', '--content-type', 'text/csv'], /^--content-type .* --input/],
  [['import', 'a.csv', '--list', 'a', '--media-store', 'b'], /^--media-store needs --pdf/],
  [['import', 'a.csv', '--list', 'a', '--text'], /^--text needs --pdf/],
  [
    ['import', 'a', '--list', 'a', '--pdf', '--text', '--media-store', 'b'],
    /--text.*cannot be used with.*--media-store/,
  ],
  [['import', 'a', '--list', 'a', '--pdf', '--npy', 'b'], /--pdf.*cannot be used with.*--npy/],
  [['doctor', '--data', '--adopt-lists'], /--adopt-lists.*cannot be used with.*--data/],
  [['media', 'get', 'a', '--json'], /unknown option '--json'/],
])('An option that would be ignored is refused: gannet %j', async (words, sentence) => {
  const { text, status } = await gannetWith(['node', 'gannet', ...words], surroundings());
  expect([text, status]).toEqual([expect.stringMatching(sentence), EXIT.usage]);
});

it('gannet backup refuses a word that is neither a command nor a folder', async () => {
  for (const word of ['lst', 'ls', 'verify', 'chekc']) {
    const told = await gannetWith(['node', 'gannet', 'backup', word], surroundings());
    expectSentence(told, new RegExp(`^There is neither .* '${word}'.* gannet backup \\./${word}\\. `), EXIT.usage);
  }
});

it('Arguments after gannet list are refused with the right command', async () => {
  const told = await gannetWith(['node', 'gannet', 'list', 'birds', 'more'], surroundings());
  expectSentence(told, /^gannet list takes no arguments.* --param list=birds\./, EXIT.usage);
  const odd = await gannetWith(['node', 'gannet', 'list', 'no such\u001b[2J'], surroundings());
  expectSentence(odd, /^gannet list takes no arguments.* --param list=NAME\./, EXIT.usage);
});

it.each([
  [['show', 'big'], 'To see one list in full, run gannet call list.read --param list=big.'],
  [['big', 'show'], 'To see one list in full, run gannet call list.read --param list=big.'],
  [['show'], 'To see one list in full, run gannet call list.read --param list=NAME.'],
  [['show', 'A b'], 'To see one list in full, run gannet call list.read --param list=NAME.'],
  [['show', 'show'], 'To see one list in full, run gannet call list.read --param list=NAME.'],
  [['delete', 'big'], 'To delete a list, run gannet call list.delete --param list=big.'],
  [['create', 'big'], 'To create a list, run gannet import FILE --list big --create.'],
  [['keys'], 'To list keys, run gannet key list.'],
  [['constructor'], 'To see one list in full, run gannet call list.read --param list=constructor.'],
])('The verb after gannet list is not taken for the name of a list: %j', async (words, sentence) => {
  const told = await gannetWith(['node', 'gannet', 'list', ...words], surroundings());
  expect(told).toMatchObject({
    text: `gannet list takes no arguments: it shows all lists. ${sentence}\n`,
    status: EXIT.usage,
  });
});

it('A mistake refers to the help of the command in which it was made', async () => {
  for (const [words, hint] of [
    [['impotr'], '(gannet --help shows the commands and their options)'],
    [['import', 'a.csv'], '(gannet import --help shows its arguments and options)'],
    [['key', 'mkae'], '(gannet key --help shows the commands and their options)'],
    [['webhook', 'create'], '(gannet webhook create --help shows its arguments and options)'],
    [['model', 'test'], '(gannet model test --help shows its arguments and options)'],
  ] as const) {
    const { text, status } = await gannetWith(['node', 'gannet', ...words], surroundings());
    expect([text, status]).toEqual([expect.stringContaining(hint), EXIT.usage]);
  }
});

it('gannet export reports an unwritable file before it calls the service', async () => {
  for (const path of ['/nowhere/x', tmpdir()]) {
    const argv = ['node', 'gannet', 'export', '--list', 'books', '--output', path];
    expectSentence(await gannetWith(argv, surroundings()), new RegExp(`^${path} could not be written`), EXIT.failed);
  }
});

it('gannet import reports a file that cannot be imported', async () => {
  for (const [file, sentence] of [
    ['/nowhere/x.ndjson', /^\/nowhere\/x\.ndjson cannot be read: it does not exist/],
    [tmpdir(), /cannot be read: it is a folder/],
    ['records.what', /^records\.what cannot be read: it does not exist \(ENOENT\)\.\n$/],
    ['book.PDF', /^book\.PDF cannot be read: it does not exist/],
  ] as const) {
    const argv = ['node', 'gannet', 'import', file, '--list', 'books'];
    const told = await gannetWith(file === tmpdir() ? [...argv, '--format', 'json'] : argv, surroundings());
    expect(told.text).toMatch(sentence);
    expect(told.status).not.toBe(EXIT.done);
  }
});

it('gannet import refuses a folder and names the option that reads folders', async () => {
  const told = await gannetWith(['node', 'gannet', 'import', tmpdir(), '--list', 'books'], surroundings());
  expectSentence(told, /is a folder\. To import the PDF files in it, use --pdf/, EXIT.usage);
});

it('README and the pages that it links to show more than twenty commands', () => {
  expect(documentedCommands().length).toBeGreaterThan(20);
});

it.each(documentedCommands())('A command of the documentation is accepted: %s', async (line) => {
  const at = surroundings();
  const argv = wordsOf(line).map((word) => (/^[\w-]+\.(?:ndjson|npy|csv)$/.test(word) ? join(at.dataDir, word) : word));
  const told = await gannetWith(['node', ...argv], at);
  expect(told).not.toMatchObject({ status: EXIT.usage });
});

/** Returns the commands in code blocks of the pages, without `npx` and comments. */
function documentedCommands(): string[] {
  const pages = [
    'README.md',
    ...['operating', 'files', 'import', 'meaning', 'feeds', 'webhooks'].map((name) => `docs/${name}.md`),
  ].map((page) => readFileSync(join(packageRoot(), page), 'utf8'));
  const blocks = pages.flatMap((page) =>
    [...page.matchAll(/^```(?:sh|bash)\n(.*?)^```/gms)].map(([, block = '']) => block),
  );
  const commands = blocks.flatMap((block) => [...block.matchAll(/\bnpx (gannet .*)$/gm)].map(([, line = '']) => line));
  return [...new Set(commands)].map((line) => line.replace(/\)$|\s+(?:#|< |&&).*$/, ''));
}

/** Splits a command into words as a shell does if nothing is expanded. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
}

it('gannet serve reports what keeps it from starting', async () => {
  const load = failingWith(new OperatorError('Cannot listen on 127.0.0.1:8400.'));
  expectSentence(await gannet('serve', surroundings(), { load }), /^Cannot listen on .*\n$/, EXIT.failed);
});

it('gannet serve reports that the system allows it too few threads', async () => {
  const load = failingWith(Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' }));
  const sentence = /^The system refused .* no thread can be started, .*\bulimit -u\b.*\n$/;
  expectSentence(await gannet('serve', surroundings(), { load }), sentence, EXIT.failed);
});

it('An unforeseen error is reported with a sentence, which says how to see its stack', async () => {
  const broken: ServiceLoader = () => Promise.reject(new TypeError('x is not a function'));
  const told = await gannet('serve', surroundings(), { load: broken });
  expect(told).toEqual({
    status: EXIT.failed,
    text: 'Gannet failed because of a bug: TypeError: x is not a function (Set GANNET_LOG_LEVEL=debug to see where.)\n',
  });
});
