/**
 * Tests data of an earlier release that is upgraded to another format, by a process that is killed repeatedly, and on
 * a full disk: the data is entirely in one format or the other, and the next start continues.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatNumberOf, openEnvironment, type EnvironmentFormat } from '../../src/platform/index.js';
import { bringUp, dueUpgrades } from '../../src/upgrades.js';
import { SeededRandom } from '../support/random.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';
import { itWhere } from '../support/skip.js';

const SEED = 20_261_127;
/** `UPGRADE_MIB=100 UPGRADE_KILLS=40` tests for longer. */
const MIB = Number(process.env['UPGRADE_MIB'] ?? 24);
const KILLS = Number(process.env['UPGRADE_KILLS'] ?? 12);
const ROW_BYTES = 8192;
const ROWS = (MIB * 2 ** 20) / ROW_BYTES;
const LINES = 20;
/** How long a commit of that size takes: processes killed after the last line are killed during it, or after it. */
const COMMIT_MS = 8 * MIB;
const PACKAGE = join(import.meta.dirname, '..', '..');

const FIRST: EnvironmentFormat = { kind: 'shelf', number: 1, content: 'books', databases: /^books$/ };
const SECOND: EnvironmentFormat = {
  ...FIRST,
  number: 2,
  upgrades: {
    2: (root) => {
      const books = root.openDB<string, number>({ name: 'books' });
      for (let row = 0; row < ROWS; row += 1) books.putSync(row, asSecond(String(books.get(row))));
    },
  },
};
const asSecond = (text: string) => text.toUpperCase();

/** The same upgrade, with its progress printed. */
const UPGRADER = `
const { openEnvironment } = await import(process.argv[1] + '/dist/src/platform/index.js');
const { writeSync } = await import('node:fs');
const [, , path, rows, lines] = process.argv;
const say = (line) => writeSync(1, line + '\\n');
const step = (root) => {
  const books = root.openDB({ name: 'books' });
  for (let row = 0; row < Number(rows); row += 1) {
    if (row % Math.ceil(rows / lines) === 0) say('row ' + row);
    books.putSync(row, books.get(row).toUpperCase());
  }
  say('committing');
};
const kind = { kind: 'shelf', number: 2, content: 'books', databases: /^books$/, upgrades: { 2: step } };
await openEnvironment(path, { kind }).close();
say('done');
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-upgrade-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function fill(path: string, rows = ROWS): Promise<void> {
  const environment = openEnvironment(path, { kind: FIRST });
  const books = environment.database<string, number>('books');
  await environment.transaction(() => {
    for (let row = 0; row < rows; row += 1) books.putSync(row, `row ${row} `.padEnd(ROW_BYTES - 64, 'abc'));
  });
  await environment.close();
}

/** Returns the format, read without write access. Throws if values of both formats are there. */
async function formatOf(path: string): Promise<number> {
  const environment = openEnvironment(path, { kind: SECOND, readOnly: true });
  const number = formatNumberOf(environment.root);
  let rows = 0;
  for (const { key, value } of environment.database<string, number>('books').getRange()) {
    expect(value === asSecond(value), `row ${key} of format ${number}`).toBe(number === 2);
    rows += 1;
  }
  await environment.close();
  expect(rows).toBe(ROWS);
  return number;
}

/** Kills the upgrade this long after the line of that number. Resolves with what it had printed. */
function killedAfter(path: string, line: number, ms: number): Promise<string> {
  const args = ['--input-type=module', '-e', UPGRADER, PACKAGE, path, String(ROWS), String(LINES)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  let isDue = false;
  child.stdout.on('data', (piece: Buffer) => {
    said += piece.toString();
    if (isDue || said.split('\n').length <= line) return;
    isDue = true;
    setTimeout(() => child.kill('SIGKILL'), ms);
  });
  return new Promise((resolve) => {
    child.once('close', () => {
      resolve(said);
    });
  });
}

describe('upgrade of data of an earlier release', () => {
  it('leaves all data in one format whenever it is killed, and is completed in the end', async () => {
    const random = new SeededRandom(SEED);
    const path = join(folder, 'shelf');
    await fill(path);
    const found: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      // Half of the kills are during the step, half during the commit.
      const line = kill % 2 === 0 ? 1 + random.below(LINES) : LINES + 1;
      const said = await killedAfter(path, line, kill % 2 === 0 ? random.below(20) : random.below(COMMIT_MS));
      const number = await formatOf(path);
      found.push(number);
      if (said.includes('done')) expect(number).toBe(2);
      if (!said.includes('committing')) expect(number).toBe(1);
      if (number === 1) continue;
      rmSync(path, { recursive: true });
      await fill(path);
    }
    // Otherwise no upgrade was killed before its end.
    expect(found).toContain(1);
    await openEnvironment(path, { kind: SECOND }).close();
    expect(await formatOf(path)).toBe(2);
    expect(() => openEnvironment(path, { kind: FIRST })).toThrow('has format 2, and this release reads format 1');
  });

  it('is announced before it begins, also for several at one start, and the log says how long each took', async () => {
    const kept = ['one', 'two'].map((name) => ({ path: name, kind: SECOND }));
    for (const { path } of kept) await fill(join(folder, path));
    const told = kept.map(({ path }) => expect.objectContaining({ path, from: 1, to: 2 }) as object);
    expect(dueUpgrades(folder, kept)).toEqual(told);
    const lines: string[] = [];
    const patience: number[] = [];
    const log = {
      info: (figures: { path: string; ms?: number }) =>
        lines.push(`${figures.path} ${figures.ms === undefined ? 'begins' : 'done'}`),
    };
    await bringUp(folder, { log: log as never, takesUpTo: (ms) => patience.push(ms) }, kept);
    expect(lines).toEqual(['one begins', 'one done', 'two begins', 'two done']);
    for (const ms of patience) expect(ms).toBeGreaterThan(60_000 + MIB * 500);
    expect(dueUpgrades(folder, kept)).toEqual([]);
    expect([await formatOf(join(folder, 'one')), await formatOf(join(folder, 'two'))]).toEqual([2, 2]);
  });

  it('changes nothing if the release does not know the format of some data', async () => {
    const kept = [
      { path: 'one', kind: SECOND },
      { path: 'two', kind: FIRST },
    ];
    await fill(join(folder, 'one'));
    await fill(join(folder, 'two'));
    await openEnvironment(join(folder, 'two'), { kind: SECOND }).close();
    const files = () => kept.map(({ path }) => readFileSync(join(folder, path, 'data.mdb')));
    const before = files();
    const watch = { log: { info: () => undefined }, takesUpTo: () => undefined };
    await expect(bringUp(folder, watch as never, kept)).rejects.toThrow('two (books) has format 2');
    expect(files().every((file, place) => file.equals(before[place] ?? Buffer.alloc(0)))).toBe(true);
  });

  itWhere(canMount('upgrades on a full disk'), 'no file system can be mounted here')(
    'leaves the data unchanged and says so if the disk is full, and is completed when there is room',
    async () => {
      const disk = SmallFileSystem.mount(join(folder, 'disk'));
      try {
        const path = join(folder, 'disk', 'shelf');
        await fill(path);
        disk.shrinkTo(2 ** 20);
        expect(() => openEnvironment(path, { kind: SECOND })).toThrow(/no space|no room|full/i);
        expect(await formatOf(path)).toBe(1);
        disk.grow();
        await openEnvironment(path, { kind: SECOND }).close();
        expect(await formatOf(path)).toBe(2);
      } finally {
        disk.unmount();
      }
    },
  );
});
