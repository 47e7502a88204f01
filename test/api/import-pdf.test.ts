/** Tests `gannet import --pdf`, which makes a searchable list from a folder of PDF files. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pdfOf } from '../support/pdf.js';
import { startTestService, type TestService } from '../support/service.js';

const run = promisify(execFile);
const STORE_BYTES_MAX = 500_000;
const root = mkdtempSync(join(tmpdir(), 'gannet-import-pdf-'));
const dataDir = join(root, 'data');
const folder = join(root, 'papers');
let service: TestService;

beforeAll(async () => {
  mkdirSync(join(folder, '2026', 'may'), { recursive: true });
  const lines = ['Gannets dive at full speed', 'from thirty metres'];
  writeFileSync(join(folder, 'Gannets.PDF'), pdfOf([{ lines }, { lines: ['They nest on cliffs'] }]));
  writeFileSync(join(folder, '2026', 'may', 'form.pdf'), pdfOf([{ lines: ['Name'], values: ['Ada Lovelace'] }]));
  writeFileSync(join(folder, 'scan.pdf'), pdfOf([{ lines: [] }]));
  writeFileSync(join(folder, 'page.pdf'), '<!doctype html>');
  writeFileSync(join(folder, 'notes.txt'), 'no PDF');
  writeFileSync(join(root, 'outside.pdf'), pdfOf([{ lines: ['Outside'] }]));
  symlinkSync(join(root, 'outside.pdf'), join(folder, 'link.pdf'));
  service = await startTestService({
    dataDir,
    env: { GANNET_MEDIA_DEFAULT_STORE_BYTES_MAX: String(STORE_BYTES_MAX), GANNET_MEDIA_FOLDERS: join(root, 'stores') },
  });
});
afterAll(async () => {
  await service.stop();
  rmSync(root, { recursive: true, force: true });
});

interface Told {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function gannet(...args: readonly string[]): Promise<Told> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_'));
  const env = { ...Object.fromEntries(inherited), GANNET_LOG_LEVEL: 'warn', GANNET_DATA_DIR: dataDir };
  try {
    return { code: 0, ...(await run(process.execPath, ['bin/gannet.js', ...args], { env })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

interface Hit {
  readonly name: string;
  readonly document?: { readonly page: number; readonly url: string };
}
const hitsOf = async (list: string, query: string): Promise<readonly Hit[]> => {
  const { stdout } = await gannet('search', list, query, '--match', 'all', '--json');
  return (JSON.parse(stdout) as { results: Hit[] }).results;
};
const namesOf = async (query: string) => (await hitsOf('texts', query)).map(({ name }) => name);
const pagesOf = async (query: string) =>
  (await hitsOf('papers', query)).map(({ name, document }) => [name, document?.page]);

describe('gannet import --pdf', () => {
  it('uploads the files to a media store, and their pages are found', async () => {
    const told = await gannet('import', '--pdf', folder, '--list', 'papers', '--create');
    expect(told.stdout).toContain('4 added, 0 replaced, 0 refused');
    expect(told.stderr).toMatch(/page\.pdf: not-a-pdf: /);
    expect(told.stderr).toMatch(/scan\.pdf: no-text: /);
    expect(told.code).toBe(1);
    expect(await pagesOf('cliffs')).toEqual([['Gannets.PDF', 2]]);
    expect(await pagesOf('lovelace')).toEqual([['2026/may/form.pdf', 1]]);
    expect(await pagesOf('outside')).toEqual([]);
    expect((await hitsOf('papers', 'cliffs'))[0]?.document?.url).toBe('media:default/papers/Gannets.PDF');
    const text = await gannet('call', 'list.read', '--param', 'list=papers');
    expect(text.stdout).toContain('"read":2');
  });

  it('reads a changed file again, and no other', async () => {
    const changed = join(root, 'changed');
    mkdirSync(changed, { recursive: true });
    writeFileSync(join(changed, 'Gannets.PDF'), pdfOf([{ lines: ['They nest on islands'] }]));
    const told = await gannet('import', '--pdf', changed, '--list', 'papers', '--json');
    expect(JSON.parse(told.stdout)).toMatchObject({ created: 0, updated: 1, failed: 0, documents: 1 });
    expect(await pagesOf('islands')).toEqual([['Gannets.PDF', 1]]);
    expect(await pagesOf('cliffs')).toEqual([]);
  });

  it('explains what the list lacks, and that a file does not fit', async () => {
    await gannet('import', '--pdf', join(folder, 'Gannets.PDF'), '--list', 'other', '--create', '--text');
    const lacking = await gannet('import', '--pdf', folder, '--list', 'other');
    expect(lacking.stderr).toContain("has no resource 'document' of the kind document");
    expect(lacking.code).not.toBe(0);
    const large = join(root, 'large');
    mkdirSync(large, { recursive: true });
    writeFileSync(join(large, 'large.pdf'), Buffer.alloc(STORE_BYTES_MAX));
    const full = await gannet('import', '--pdf', large, '--list', 'papers');
    expect(full.stderr).toMatch(/large\.pdf does not fit into the media store 'default'.*--media-store/);
    expect(full.code).not.toBe(0);
  });

  it('accepts files with any name that is valid, and says why it refuses others', async () => {
    const odd = join(root, 'odd');
    mkdirSync(odd);
    const named = [
      '100%.pdf',
      'a#b?c=d&e.pdf',
      '-dash.pdf',
      ' lead.pdf',
      '%2e%2e%2fup.pdf',
      'back\\slash.pdf',
      '鰹鳥😀.pdf',
    ];
    for (const name of [...named, 'new\nline.pdf'])
      writeFileSync(join(odd, name), pdfOf([{ lines: ['Boobies plunge'] }]));
    const [before, behind] = [Buffer.from(`${odd}/bad`), Buffer.from([0xff, 0x2e, 0x70, 0x64, 0x66])];
    if (process.platform === 'linux') writeFileSync(Buffer.concat([before, behind]), '');
    const told = await gannet('import', '--pdf', odd, '--list', 'odd', '--create');
    expect(told.stdout).toContain(`${named.length} added, 0 replaced, 0 refused`);
    expect(told.stderr).toContain('new line.pdf: invalid-parameter: path: A path has no control characters.');
    if (process.platform === 'linux')
      expect(told.stderr).toContain('not-readable: its name is not in UTF-8; rename it');
    const found = (await hitsOf('odd', 'plunge')).map(({ name, document }) => [name, document?.url]);
    expect(found.toSorted()).toEqual(named.map((name) => [name, `media:default/odd/${name}`]).toSorted());
  });

  it('keeps a media store from deletion while the list links to it', async () => {
    const folders = join(root, 'stores');
    mkdirSync(join(folders, 'files'), { recursive: true });
    const added = await gannet('media-store', 'add', 'shelf', '--kind', 'folder', '--folder', join(folders, 'files'));
    expect(added.code).toBe(0);
    const told = await gannet(
      'import',
      '--pdf',
      join(folder, 'Gannets.PDF'),
      '--list',
      'papers',
      '--media-store',
      'shelf',
    );
    expect(told.stdout).toContain('1 replaced');
    const refused = await gannet('media-store', 'delete', 'shelf');
    expect(refused.stderr).toContain('list papers');
    expect(await pagesOf('thirty')).toEqual([['Gannets.PDF', 1]]);
  });

  it('writes texts into the records with --text', async () => {
    const told = await gannet('import', '--pdf', folder, '--list', 'texts', '--create', '--text');
    expect(told.stdout).toContain('2 added, 0 replaced, 0 refused');
    expect(told.stderr).toMatch(/page\.pdf: not-a-pdf: /);
    expect(told.stderr).toMatch(/scan\.pdf: no-text: /);
    expect(told.code).toBe(1);
    expect(await namesOf('thirty cliffs')).toEqual(['Gannets.PDF']);
    expect(await namesOf('lovelace')).toEqual(['2026/may/form.pdf']);
    expect(await namesOf('outside')).toEqual([]);
    writeFileSync(join(folder, 'Gannets.PDF'), pdfOf([{ lines: ['They nest on islands'] }]));
    const again = await gannet('import', '--pdf', join(folder, 'Gannets.PDF'), '--list', 'texts', '--text', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ created: 0, updated: 1, failed: 0, documents: 1, faults: [] });
    expect(again.code).toBe(0);
    expect(await namesOf('islands')).toEqual(['Gannets.PDF']);
    expect(await namesOf('cliffs')).toEqual([]);
  });

  it.each([
    ['a folder without a PDF', '2026/nothing', /contains no \.pdf files/],
    ['a folder that is not there', 'nowhere', /cannot be read: it does not exist/],
  ])('explains that it was given %s', async (_what, path, sentence) => {
    mkdirSync(join(folder, '2026', 'nothing'), { recursive: true });
    const told = await gannet('import', '--pdf', join(folder, path), '--list', 'papers');
    expect(told.stderr).toMatch(sentence);
    expect(told.code).not.toBe(0);
  });
});
