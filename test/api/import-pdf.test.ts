/** `gannet import --pdf`: a folder of PDF files becomes a list that is searched. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pdfOf } from '../support/pdf.js';
import { startTestService, type TestService } from '../support/service.js';

const run = promisify(execFile);
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
  service = await startTestService({ dataDir });
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

const namesOf = async (query: string): Promise<readonly string[]> => {
  const { stdout } = await gannet('search', 'papers', query, '--match', 'all', '--json');
  return (JSON.parse(stdout) as { results: { name: string }[] }).results.map(({ name }) => name);
};

describe('gannet import --pdf', () => {
  it('makes a record of each file that has text, and tells what became of the others', async () => {
    const told = await gannet('import', '--pdf', folder, '--list', 'papers', '--create');
    expect(told.stdout).toContain('2 added, 0 replaced, 0 refused');
    expect(told.stderr).toMatch(/page\.pdf: not-a-pdf: /);
    expect(told.stderr).toMatch(/scan\.pdf: no-text: /);
    expect(told.code).toBe(1);
    expect(await namesOf('thirty cliffs')).toEqual(['Gannets.PDF']);
    expect(await namesOf('lovelace')).toEqual(['2026/may/form.pdf']);
    expect(await namesOf('outside')).toEqual([]);
  });

  it('replaces what a file had when it is read again', async () => {
    writeFileSync(join(folder, 'Gannets.PDF'), pdfOf([{ lines: ['They nest on islands'] }]));
    const told = await gannet('import', '--pdf', join(folder, 'Gannets.PDF'), '--list', 'papers', '--json');
    expect(JSON.parse(told.stdout)).toMatchObject({ created: 0, updated: 1, failed: 0, documents: 1, faults: [] });
    expect(told.code).toBe(0);
    expect(await namesOf('islands')).toEqual(['Gannets.PDF']);
    expect(await namesOf('cliffs')).toEqual([]);
  });

  it.each([
    ['a folder without a PDF', '2026/nothing', /has no file whose name ends in \.pdf/],
    ['a folder that is not there', 'nowhere', /cannot be read: it does not exist/],
  ])('tells of %s', async (_what, path, sentence) => {
    mkdirSync(join(folder, '2026', 'nothing'), { recursive: true });
    const told = await gannet('import', '--pdf', join(folder, path), '--list', 'papers');
    expect(told.stderr).toMatch(sentence);
    expect(told.code).not.toBe(0);
  });
});
