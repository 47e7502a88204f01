/**
 * Runs what the pages tell people to type, block by block in the order of each page, as somebody who pastes them. A
 * command that fails, and a request that is refused, fail the test. A block that cannot be run is listed with the
 * reason; any other block of these pages is run, also one that is added.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WORDNET } from '../../src/cli/demo/lists.js';
import { readProvider } from '../../src/feeds/provider-schemas.js';
import { runCommands, shapeOf, type StandIns } from '../support/documented-commands.js';
import { codeBlocks, PAGES, type CodeBlock } from '../support/documentation.js';
import { eventually } from '../support/eventually.js';
import { siteOf } from '../support/feeds/feed-service.js';
import { npyOf } from '../support/npy.js';
import { writeOnnxFolder } from '../support/onnx-folder.js';
import { pdfOf } from '../support/pdf.js';
import { mp4Of } from '../support/recordings.js';
import { pictureOf, writePictureFolder } from '../support/picture-folder.js';
import { whyWithout } from '../support/programs.js';
import { startScriptedModel } from '../support/scripted-model.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { startTestService, type TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';

const PACKAGE = join(import.meta.dirname, '../..');
/** The pages whose blocks belong together: those after README go on with its list. */
const RUN = ['README', 'docs/import', 'docs/meaning', 'docs/files', 'docs/webhooks', 'docs/operating', 'docs/feeds'];
const NOT_RUN: Readonly<Record<string, string>> = {
  'CONTRIBUTING.md': 'they run the tests',
  'docs/architecture.md': 'a drawing',
  'docs/bare-metal.md': 'documented-installation.test.ts runs them',
};

const SERVES = 'it starts a service, which has been started here';
/** Blocks that are not run, by their first lines. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'npm run demo   # see it work': 'command-line.test.ts runs the demo',
  'npm start': SERVES,
  'GANNET_SERVER_CORS_ORIGINS=https://shop.example npm start': SERVES,
  'ollama pull all-minilm': SERVES,
  'python3 -m http.server 8000 --bind 127.0.0.1 &': SERVES,
  [`npx gannet feed discover --settings '{"start_urls": ["http://127.0.0.1:8000/docs/"]}'    # what would be read`]:
    'feeds-tour.test.ts runs it',
};

const root = mkdtempSync(join(tmpdir(), 'gannet-documented-'));
const work = join(root, 'work');
const servers: { close(): Promise<unknown> }[] = [];
let service: TestService;
let key = '';

const write = (path: string, content: string | Uint8Array) => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
};
const serve = async <Started extends { close(): Promise<unknown> }>(starting: Promise<Started>): Promise<Started> => {
  const server = await starting;
  servers.push(server);
  return server;
};
const newestBackup = () => ({ '20261122T081500Z': readdirSync(join(root, 'backups')).sort().at(-1) ?? '' });
const resourcesAreRead = async (list: string) => {
  await eventually(
    async () => (await service.client.get(`/list/default/${list}`)).body as { resources_state?: { pending: number } },
    ({ resources_state: state }) => state?.pending === 0,
  );
};

/** What has to be there before a block, by its first line. */
const GIVEN: Readonly<Record<string, () => StandIns | void | Promise<StandIns | void>>> = {
  '$ npx gannet search wordnet wiry coat --filter "hypernym = \'terrier.n.01\'" --size 3': async () => {
    await service.client.post('/list/default', { name: 'wordnet', ...WORDNET.definition });
    const terriers = (await WORDNET.records()).filter(({ fields }) =>
      (fields['hypernym'] as readonly string[] | undefined)?.includes('terrier.n.01'),
    );
    await service.client.bulk('default', 'wordnet', terriers);
  },
  'npx gannet import --pdf ~/Documents/papers --list papers --create': () => {
    const lines = ['The coordinator of a two-phase commit', 'asks every participant first.'];
    write('home/Documents/papers/2019/commit.pdf', pdfOf([{ lines: ['A title page'] }, { lines }]));
  },
  'npx gannet search photos --image holiday.jpg': async () => {
    write('work/holiday.jpg', await pictureOf([200, 40, 30]));
    const photos = { name: 'photos', image_model: 'built-in', resources: [{ name: 'photo', kind: 'image' }] };
    await service.client.post('/list/default', { ...photos, searchable_fields: [{ name: 'title' }] });
    await shell('npx gannet media put holiday.jpg');
    await service.client.bulk('default', 'photos', [{ name: 'holiday', photo: 'media:default/holiday.jpg' }]);
    await resourcesAreRead('photos');
  },
  [`api -X PUT http://127.0.0.1:8400/list/default/birds -d '{"model": "built-in"}'`]: async () => {
    write('work/dogs.csv', 'name,words,gloss\ngreyhound,greyhound,a tall slender dog\n');
    await shell('GANNET_DATA_DIR=.demo npx gannet import dogs.csv --list animals --create');
  },
  [`npx gannet feed connect docs --provider website --settings '{"start_urls": ["https://docs.example/"]}'`]:
    async () => ({ 'https://docs.example/': (await serve(siteOf('guide'))).url('/') }),
  [`api http://127.0.0.1:8400/webhook -d '{"url": "https://example.com/hooks", "events": ["searchresult.created", "searchresult.deleted"]}'`]:
    async () => {
      const url = (await serve(ScriptedServer.start())).url('/hooks');
      const { body } = await service.client.post('/webhook', { url: `${url}/other`, events: ['list.created'] });
      return { 'https://example.com/hooks': url, ID: (body as { id: string }).id };
    },
  'npx gannet import more-birds.csv --list birds': () => {
    write('work/animals.ndjson', '{"name": "otter", "title": "Otter"}\n');
  },
  "api 'http://127.0.0.1:8400/search-result/default/birds?name=puffin'     # a record by its name, with its id":
    async () => {
      const { body } = await service.client.get('/search-result/default/birds', { name: 'booby' });
      return { ID: (body as { results: { id: string }[] }).results[0]?.id ?? '' };
    },
  'npx gannet model add minilm --provider openai --url http://127.0.0.1:11434/v1 --served-name all-minilm':
    async () => ({ 'http://127.0.0.1:11434/v1': (await serve(startScriptedModel())).url('/v1') }),
  'git clone https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 data/models/all-MiniLM-L6-v2': () => {
    writeOnnxFolder(join(work, 'data/models/all-MiniLM-L6-v2'));
  },
  'npx gannet import books.csv --npy books.npy --list books --create': () => {
    write('work/books.csv', 'name,title\na,Atlas\nb,Birds\n');
    write('work/books.npy', npyOf([[1, 0], [0, 1]])); // prettier-ignore
  },
  'npx gannet model add clip --provider onnx': () => {
    writePictureFolder(join(work, 'data/models/clip'));
  },
  'npx gannet model add whisper --kind transcription --provider openai --url http://127.0.0.1:9000/v1 --served-name whisper-1':
    async () => {
      const server = await serve(ScriptedServer.start());
      server.script = (_asked, response) => {
        response.setHeader('content-type', 'application/json').end('{"text": "", "segments": []}');
      };
      const talks = { name: 'talks', resources: [{ name: 'talk', kind: 'audio' }] };
      await service.client.post('/list/default', { ...talks, searchable_fields: [{ name: 'title' }] });
      return { 'http://127.0.0.1:9000/v1': server.url('/v1') };
    },
  'npx gannet backup /srv/backups --keep 7            # a folder named after its time: a whole data directory': () =>
    addStore(),
  'npx gannet backup /srv/backups --keep 7    # prints: /srv/backups/20261122T081500Z: 12 lists, 3.1 GiB, 2.9 GiB of it shared with what was there':
    () => addStore(),
  'npx gannet restore /srv/backups/20261122T081500Z --replace': newestBackup,
};

async function addStore(): Promise<void> {
  mkdirSync(join(root, 'store'), { recursive: true });
  const store = { name: 'nightly', kind: 'folder', folder: join(root, 'store') };
  await service.control().post('/media-store/default', store);
}

/** Runs commands as they are on a page, and resolves with what they print. */
const shell = (commands: string, standIns: StandIns = {}): Promise<string> =>
  runCommands(commands, {
    folder: work,
    env: { HOME: join(root, 'home'), KEY: key, GANNET_DATA_DIR: join(work, 'data'), GANNET_PORT: '0' },
    standIns: { 'http://127.0.0.1:8400': service.address, '/srv/backups': join(root, 'backups'), ...standIns },
    // What it would bring is there already.
    functions: 'git() { :; }',
  });

/** A search that an example shows has to find something. */
function expectHits(output: string): void {
  for (const line of output.split('\n').filter((each) => each.startsWith('{"query_id"')))
    expect((JSON.parse(line) as { total_count: number }).total_count, line).toBeGreaterThan(0);
}

/** What a page says that a command prints, beside it, has to be like what it prints. */
function expectPrints(commands: string, output: string): void {
  const told = shapeOf(output.replaceAll(join(root, 'backups'), '/srv/backups'));
  for (const [, said = ''] of commands.matchAll(/# prints: (.*)$/gm)) expect(told).toContain(shapeOf(said));
}

async function runShell(block: CodeBlock): Promise<void> {
  const isRestore = block.text.includes('gannet restore');
  if (isRestore) await service.stop();
  try {
    const output = await shell(block.text, await standInsOf(block));
    expectHits(output);
    expectPrints(block.text, output);
  } finally {
    if (isRestore) await restart();
  }
  if (block.begins.includes('key create --access full')) {
    key = (await shell('npx gannet key create --access full')).trim();
    service.client = service.clientWith(key);
  }
  if (block.begins.includes('import --pdf')) await resourcesAreRead('papers');
}

const standInsOf = async ({ begins }: CodeBlock): Promise<StandIns> => (await GIVEN[begins]?.()) ?? {};

async function restart(): Promise<void> {
  await service.start({ withoutKey: true });
  service.client = service.clientWith(key);
}

/** Runs what follows `$`, and compares what it prints with the other lines. */
async function runWithOutput(block: CodeBlock): Promise<void> {
  const lines = block.text.trimEnd().split('\n');
  const isCommand = (line: string) => line.startsWith('$ ');
  const commands = lines.filter(isCommand).map((line) => line.slice(2));
  const output = await shell(commands.join('\n'), await standInsOf(block));
  // The width of a page ends a text early.
  const shown = lines.filter((line) => !isCommand(line)).map((line) => shapeOf(line).replace(/(?<=gloss: ).*/, '…'));
  expect(output.trimEnd().split('\n').map((line) => shapeOf(line).replace(/(?<=gloss: ).*/, '…'))).toEqual(shown); // prettier-ignore
}

interface AgentServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly command?: string;
  readonly args: readonly string[];
}

/** Connects an agent with settings of the page, and expects tools. */
async function runAgent({ url, headers, command, args }: AgentServer): Promise<void> {
  const client = new Client({ name: 'tests', version: '1' });
  const own = { PATH: `${join(root, 'bin')}:${process.env['PATH']}`, GANNET_DATA_DIR: join(work, 'data') };
  const given = JSON.parse(JSON.stringify(headers ?? {}).replace('gnt_…', key)) as Record<string, string>;
  await client.connect(
    command === undefined
      ? new StreamableHTTPClientTransport(new URL(url.replace('http://127.0.0.1:8400', service.address)), {
          requestInit: { headers: given },
        })
      : new StdioClientTransport({ command, args: [...args], env: own }),
  );
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('search_list');
  await client.close();
}

async function runJson(text: string): Promise<void> {
  const json = JSON.parse(text) as Readonly<Record<string, unknown>>;
  if ('mcpServers' in json) {
    for (const server of Object.values(json['mcpServers'] as Record<string, AgentServer>)) await runAgent(server);
  } else if ('records' in json) {
    // The settings of an interface, with its secret given apart.
    readProvider('api', json, 'a secret', { allowed_hosts: [], loopback_allowed: false });
  } else {
    const { list, query } =
      json['name'] === 'talk' ? await talkOnFilm() : { list: 'papers', query: 'two-phase commit' };
    const { body } = await service.client.get(`/search/default/${list}/1`, { query, match: 'phrase' });
    const [hit = {}] = (body as { results: Readonly<Record<string, unknown>>[] }).results;
    expectMembers(hit, json);
  }
}

/** An answer has what the page shows of it, and what the page shows within is shown in full. */
function expectMembers(hit: Readonly<Record<string, unknown>>, shown: Readonly<Record<string, unknown>>): void {
  expect(Object.keys(hit)).toEqual(expect.arrayContaining(Object.keys(shown)));
  for (const [name, value] of Object.entries(shown))
    if (typeof value === 'object') expect(Object.keys(hit[name] ?? {}).sort()).toEqual(Object.keys(value ?? {}).sort());
    else expect(typeof hit[name]).toBe(typeof value);
}

async function talkOnFilm(): Promise<{ readonly list: string; readonly query: string }> {
  const list = 'films';
  write('work/talk.mp4', mp4Of({ subtitles: [[{ seconds: 754.2, text: 'It nests on steep cliffs' }]] }));
  await shell('npx gannet media put talk.mp4');
  const resources = [{ name: 'film', kind: 'video' }];
  await service.client.post('/list/default', { name: list, searchable_fields: [{ name: 'title' }], resources });
  await service.client.bulk('default', list, [{ name: 'talk', film: 'media:default/talk.mp4' }]);
  await resourcesAreRead(list);
  return { list, query: 'steep cliffs' };
}

/** Runs the request of a web page. */
async function runScript(text: string): Promise<void> {
  const lines = ['const key = process.env.KEY;', text, 'console.log(await answer.text());'];
  write('work/page.mjs', lines.join('\n').replace('https://search.example', service.address));
  const output = await shell('node page.mjs');
  expect(output).toMatch(/^\{"query_id"/);
  expectHits(output);
}

beforeAll(async () => {
  for (const folder of ['work', 'home', 'bin']) mkdirSync(join(root, folder));
  symlinkSync(join(PACKAGE, 'bin', 'gannet.js'), join(root, 'bin', 'gannet'));
  const env = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_MEDIA_FOLDERS: join(root, 'store') };
  service = await startTestService({ dataDir: join(work, 'data'), env });
});
afterAll(async () => {
  await service.stop();
  await Promise.all(servers.map((server) => server.close()));
  rmSync(root, { recursive: true, force: true });
});

const why = whyWithout('bash', 'curl');
for (const page of RUN.map((name) => `${name}.md`))
  for (const block of codeBlocks(page).filter(({ begins }) => !(begins in LEFT_OUT)))
    itWhere(why === undefined, why ?? '')(`${page}: ${block.begins}`, async () => {
      if (block.language === 'json') await runJson(block.text);
      else if (block.begins.startsWith('$ ')) await runWithOutput(block);
      else if (block.language === 'js') await runScript(block.text);
      else {
        expect(block.language, 'Nothing here runs this language: list the block in LEFT_OUT').toMatch(/^(?:ba)?sh$/);
        await runShell(block);
      }
    });

it('Every page with blocks is run or listed, and what is listed is on a page', () => {
  const withBlocks = PAGES.filter((page) => codeBlocks(page).length > 0);
  expect([...RUN.map((name) => `${name}.md`), ...Object.keys(NOT_RUN)].sort()).toEqual([...withBlocks].sort());
  const beginnings = new Set(withBlocks.flatMap(codeBlocks).map(({ begins }) => begins));
  expect([...Object.keys(LEFT_OUT), ...Object.keys(GIVEN)].filter((begins) => !beginnings.has(begins))).toEqual([]);
});
