/** Tests `--with-files`, which exports the media files that records link to, and imports them elsewhere. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { startTestService, type TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';

const LIST = {
  searchable_fields: [{ name: 'title' }],
  resources: [
    { name: 'paper', kind: 'document' },
    { name: 'talk', kind: 'audio' },
  ],
};
const LARGE = randomBytes(3_000_000);
/** What is in the stores, by URL. */
const FILES = new Map<string, Buffer>([
  ['media:default/papers/one.pdf', Buffer.from('%PDF-1.4 one')],
  ['media:default/papers/a b/zwö.pdf', LARGE],
  ['media:default/talks/sea.mp3', Buffer.from('no sound')],
  ['media:default/talks/sea.vtt', Buffer.from('WEBVTT\n\n00:01.000 --> 00:02.000\nGannets\n')],
  ['media:default/unlinked.txt', Buffer.from('nobody links to it')],
]);
const LINKED = [...FILES.keys()].filter((url) => !url.includes('unlinked'));

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startTestService({});
  folder = mkdtempSync(join(tmpdir(), 'gannet-linked-'));
  for (const [url, content] of FILES) {
    const { store, path } = placeOf(url);
    const file = join(folder, 'source');
    writeFileSync(file, content);
    const { status, notes } = await gannet(service.dataDir, 'media', 'put', file, path, '--store', store);
    expect(status, notes).toBe(0);
  }
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

function placeOf(url: string): { readonly store: string; readonly path: string } {
  const [, store = '', path = ''] = /^media:([^/]*)\/(.*)$/u.exec(url) ?? [];
  return { store, path };
}

async function made(list: string, records: readonly object[]): Promise<void> {
  const answer = await service.client.post('/list/default', { name: list, ...LIST });
  expect(answer.status, answer.text).toBe(201);
  const { status, text } = await service.client.bulk('default', list, records);
  expect(status, text).toBe(200);
}

/** Compares digests, as `toEqual` would compare millions of bytes one by one, for seconds. */
const digest = (content: Buffer | undefined) => content && createHash('sha256').update(content).digest('hex');

/** Returns digests of the files below the folder, by paths with slashes. */
function filesIn(path: string): Map<string, string | undefined> {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((file) => [file.slice(path.length + 1), digest(readFileSync(file))]));
}

const exported = (list: string, files: string, output = join(folder, `${list}.ndjson`)) =>
  gannet(service.dataDir, 'export', '--list', list, '-o', output, '--with-files', files);

const papers = LINKED.filter((url) => url.endsWith('.pdf'));

it('An export with files is imported by another service: each linked file once, with its subtitles, and no others', async () => {
  await made('papers', [
    { name: 'one', title: 'One', paper: papers[0], talk: 'media:default/talks/sea.mp3' },
    { name: 'two', title: 'Two', paper: papers[1] },
    { name: 'three', title: 'Three', paper: papers[0], talk: 'https://example.com/sea.mp3' },
    { name: 'none', title: 'None' },
  ]);
  const files = join(folder, 'papers');
  for (let round = 0; round < 2; round += 1) {
    const { status, notes } = await exported('papers', files);
    expect(status, notes).toBe(0);
    expect(notes).toMatch(/4 files \(.*\) written to /);
  }
  const expected = new Map(LINKED.map((url) => [url.slice('media:'.length), digest(FILES.get(url))]));
  expect(filesIn(files)).toEqual(expected);

  const other = await startTestService({});
  try {
    const records = join(folder, 'papers.ndjson');
    const { status } = await other.client.post('/list/default', { name: 'papers', ...LIST });
    expect(status).toBe(201);
    writeFileSync(join(files, '.listing'), 'what a system keeps');
    const taken = await gannet(other.dataDir, 'import', records, '--list', 'papers', '--with-files', files);
    expect(taken.status, taken.notes).toBe(0);
    expect(taken.notes).toContain('4 files (');
    const again = join(folder, 'again');
    const out = join(folder, 'again.ndjson');
    const sent = await gannet(other.dataDir, 'export', '--list', 'papers', '-o', out, '--with-files', again);
    expect(sent.status, sent.notes).toBe(0);
    expect(filesIn(again)).toEqual(expected);
    expect(readFileSync(out, 'utf8').split('\n').sort()).toEqual(readFileSync(records, 'utf8').split('\n').sort());
  } finally {
    await other.close();
  }
});

it('An export names the files that it cannot write, writes the others, and creates no folder outside its own', async () => {
  const bad = [
    'media:default/missing.pdf',
    'media:nowhere/x.pdf',
    'media:default/../../../outside.pdf',
    'media:../outside.pdf',
    `media:default/papers/one.pdf/below.pdf`,
    'media:default/',
  ];
  await made('bad', [
    ...bad.map((paper, number) => ({ name: `b${number}`, title: 'Bad', paper })),
    { name: 'good', title: 'Good', paper: papers[0] },
  ]);
  mkdirSync(join(folder, 'deep', 'er'), { recursive: true });
  const files = join(folder, 'deep', 'er', 'bad');
  const { status, notes } = await exported('bad', files);
  expect(status).toBe(1);
  for (const url of bad) expect(notes).toContain(`${url}: `);
  expect(notes).toContain('6 linked files could not be written');
  expect([...filesIn(files).keys()]).toEqual(['default/papers/one.pdf']);
  expect(filesIn(join(folder, 'deep'))).toEqual(
    new Map([['er/bad/default/papers/one.pdf', digest(FILES.get(papers[0] as string))]]),
  );
  expect(existsSync(join(folder, 'outside.pdf'))).toBe(false);
  expect(readFileSync(join(folder, 'bad.ndjson'), 'utf8').split('\n')).toHaveLength(8);
});

describe('an import with files', () => {
  const records = () => {
    const file = join(folder, 'a-record.ndjson');
    writeFileSync(file, '{"name": "x", "title": "X"}\n');
    return file;
  };
  const imported = (files: string) =>
    gannet(service.dataDir, 'import', records(), '--list', 'target', '--create', '--with-files', files);
  const folderWith = (name: string, ...paths: readonly string[]) => {
    for (const path of paths) {
      mkdirSync(dirname(join(folder, name, path)), { recursive: true });
      writeFileSync(join(folder, name, path), 'x');
    }
    return join(folder, name);
  };

  it.each([
    ['a file at the top', () => folderWith('top', 'readme.txt'), 'is not in the folder of a media store', 2],
    ['a store that there is not', () => folderWith('other', 'elsewhere/a.txt'), 'elsewhere', 1],
    ['no such folder', () => join(folder, 'not-there'), 'it does not exist', 1],
  ])('explains what is wrong with %s, and writes no record', async (_what, files, said, expected) => {
    const { status, notes } = await imported(files());
    expect(status).toBe(expected);
    expect(notes).toContain(said);
    const { body } = await service.client.get('/search-result/default/target', { size: 0 });
    expect((body as { total_count?: number }).total_count ?? 0).toBe(0);
  });
});

itWhere(canMount('linked files on a full disk'), 'this process may not mount')(
  'An export with files to a full disk ends with a sentence, leaves no partial file, and works when there is room',
  async () => {
    await made('full', [{ name: 'large', title: 'Large', paper: papers[1] }]);
    const path = join(folder, 'disk');
    const disk = SmallFileSystem.mount(path);
    try {
      disk.shrinkTo(1_000_000);
      const full = await exported('full', path);
      expect(full.status).toBe(1);
      expect(full.notes).toMatch(/there is no space left on the disk/);
      expect(filesIn(path).size).toBe(0);
      disk.grow();
      expect((await exported('full', path)).status).toBe(0);
      expect(filesIn(path)).toEqual(new Map([['default/papers/a b/zwö.pdf', digest(LARGE)]]));
    } finally {
      disk.unmount();
    }
  },
);
