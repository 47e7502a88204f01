import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { finishRestore } from './restore.js';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-restore-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const at = (...path: string[]) => join(dataDir, ...path);
const asides = () => readdirSync(dataDir).filter((name) => name.startsWith('.before-restore-'));

it('finishRestore moves the old data into one folder, wherever it was interrupted, and returns its path', () => {
  for (const name of ['lists', 'system', '.restored']) mkdirSync(at(name));
  writeFileSync(at('.restored', 'new'), '');
  // The interruption is after the first of both folders.
  mkdirSync(at('.placing', 'in-the-way'), { recursive: true });
  expect(() => finishRestore(dataDir)).toThrow('.placing');
  renameSync(at(asides()[0] ?? '', 'system'), at('system'));
  rmSync(at('.placing'), { recursive: true });

  const finished = finishRestore(dataDir);

  expect(asides().map((name) => readdirSync(at(name)))).toEqual([['lists', 'system']]);
  expect(finished).toEqual({ aside: at(asides()[0] ?? '') });
  expect(readdirSync(dataDir).sort()).toEqual([...asides(), 'new']);
  expect(finishRestore(dataDir)).toBeUndefined();
});
