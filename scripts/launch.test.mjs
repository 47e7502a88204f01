/** Whoever asks a fresh clone what a command takes is not made to wait for its set-up. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { otherSetUpEnded, showSetUp } from './lib/set-up-sign.mjs';

it('answers --help of a fresh clone without setting it up', () => {
  const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  cpSync(import.meta.dirname, join(clone, 'scripts'), { recursive: true });
  const told = execFileSync(process.execPath, ['scripts/launch.mjs', 'demo', '--help'], { cwd: clone });
  expect(String(told)).toMatch(/^Gannet is not set up yet: `npm run setup` .*`npx gannet demo --help`/);
  expect(readdirSync(clone)).toEqual(['scripts']);
});

it('says of a clone that is being set up that it is, and of one whose set-up was killed that it is none yet', () => {
  const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  cpSync(join(import.meta.dirname, '..', 'bin'), join(clone, 'bin'), { recursive: true });
  writeFileSync(join(clone, 'package.json'), '{"type":"module"}');
  mkdirSync(join(clone, 'dist'));
  const told = () => spawnSync(process.execPath, ['bin/gannet.js', 'list'], { cwd: clone, encoding: 'utf8' }).stderr;
  expect(told()).toBe('Gannet is not built yet: run `npm run setup` first.\n');
  const hide = showSetUp(clone);
  expect(told()).toMatch(
    /^Gannet is not built yet: a set-up is at work on it \(process \d+, since \d+ s; .* when that has ended\.\n$/,
  );
  hide();
  expect(told()).toMatch(/run `npm run setup` first/);
  // A process that has ended.
  writeFileSync(join(clone, 'dist', 'set-up.pid'), String(spawnSync(process.execPath, ['-e', '']).pid));
  expect(told()).toMatch(/run `npm run setup` first/);
});

it('a set-up waits for another one that is at work, and for none that was killed', async () => {
  const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  mkdirSync(join(clone, 'dist'));
  const sign = join(clone, 'dist', 'set-up.pid');
  const told = [];
  await otherSetUpEnded(clone, (line) => told.push(line));
  writeFileSync(sign, String(spawnSync(process.execPath, ['-e', '']).pid));
  await otherSetUpEnded(clone, (line) => told.push(line));
  expect(told).toEqual([]);
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
  writeFileSync(sign, String(other.pid));
  await otherSetUpEnded(clone, (line) => {
    told.push(line);
    other.stdin.end();
  });
  expect(told).toEqual([expect.stringContaining(`(process ${other.pid}): this one goes on when that has ended`)]);
});

it('the program says of a Node.js that is too old which one it needs', () => {
  const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  cpSync(join(import.meta.dirname, '..', 'bin'), join(clone, 'bin'), { recursive: true });
  writeFileSync(join(clone, 'package.json'), '{"type":"module","engines":{"node":">=99.3"}}');
  const { stderr, status } = spawnSync(process.execPath, ['bin/gannet.js', 'list'], { cwd: clone, encoding: 'utf8' });
  expect(stderr).toMatch(/^Node\.js [\d.]+ is too old: install Node\.js 99\.3 or newer .* first in PATH\.\n$/);
  expect(status).toBe(3);
});
