/** Tests the start of a clone before and while it is set up, and set-ups that run at the same time or were killed. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { itWhere } from '../test/support/skip.js';
import { otherSetUpEnded, showSetUp } from './lib/set-up-sign.mjs';

it('launch.mjs answers --help in a fresh clone without setting it up', () => {
  const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  cpSync(import.meta.dirname, join(clone, 'scripts'), { recursive: true });
  const told = execFileSync(process.execPath, ['scripts/launch.mjs', 'demo', '--help'], { cwd: clone });
  expect(String(told)).toMatch(/^Gannet is not set up yet: `npm run setup` .*`npx gannet demo --help`/);
  expect(readdirSync(clone)).toEqual(['scripts']);
});

it('The program says whether its clone is being set up, or not built yet because the set-up was killed', async () => {
  const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  cpSync(join(import.meta.dirname, '..', 'bin'), join(clone, 'bin'), { recursive: true });
  writeFileSync(join(clone, 'package.json'), '{"type":"module"}');
  mkdirSync(join(clone, 'dist'));
  const told = () => spawnSync(process.execPath, ['bin/gannet.js', 'list'], { cwd: clone, encoding: 'utf8' }).stderr;
  expect(told()).toBe('Gannet is not built yet: run `npm run setup` first.\n');
  const hide = await showSetUp(clone, () => undefined);
  expect(told()).toMatch(
    /^Gannet is not built yet: a set-up is at work on it \(process \d+, since \d+ s; .* when that has ended\.\n$/,
  );
  // It began before the clock was set back.
  const later = Date.now() / 1000 + 3600;
  utimesSync(join(clone, 'dist', 'set-up.pid'), later, later);
  expect(told()).toContain(', since 0 s; ');
  hide();
  expect(told()).toMatch(/run `npm run setup` first/);
  // Signs with the number of a process that has ended.
  writeFileSync(join(clone, 'dist', 'set-up.pid'), String(spawnSync(process.execPath, ['-e', '']).pid));
  expect(told()).toMatch(/run `npm run setup` first/);
});

it('A set-up waits for another one that is running, but not for one that was killed', async () => {
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

it('Of set-ups that begin at once, each waits for the others', async () => {
  const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  const sign = join(import.meta.dirname, 'lib', 'set-up-sign.mjs');
  const program = `
    import { existsSync, rmSync, writeFileSync } from 'node:fs';
    import { showSetUp } from ${JSON.stringify(sign)};
    const hide = await showSetUp(${JSON.stringify(clone)}, () => undefined);
    const atWork = ${JSON.stringify(join(clone, 'at-work'))};
    if (existsSync(atWork)) process.exit(1);
    writeFileSync(atWork, '');
    await new Promise((resolve) => setTimeout(resolve, 100));
    rmSync(atWork);
    hide();`;
  const status = () =>
    new Promise((resolve) => {
      spawn(process.execPath, ['--input-type=module', '-e', program]).on('exit', resolve);
    });
  expect(await Promise.all(Array.from({ length: 6 }, status))).toEqual(Array(6).fill(0));
  expect(readdirSync(join(clone, 'dist'))).toEqual([]);
});

const tellsBeginnings = existsSync('/proc/self/stat');

itWhere(tellsBeginnings, 'when a process began is not told here')(
  'A killed set-up is not waited for, even if another process has its number now',
  async () => {
    const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
    onTestFinished(() => rmSync(clone, { recursive: true }));
    const hide = await showSetUp(clone, () => undefined);
    const path = join(clone, 'dist', 'set-up.pid');
    const [pid, since] = readFileSync(path, 'utf8').split(' ');
    expect([pid, since]).toEqual([String(process.pid), expect.stringMatching(/^\d+$/)]);
    hide();
    writeFileSync(path, `${process.ppid} ${since}`);
    const told = [];
    await otherSetUpEnded(clone, (line) => told.push(line));
    expect(told).toEqual([]);
  },
);

it('npm start and npm run demo leave no shell between npm and the program, which would swallow signals', () => {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'));
  const child = spawnSync('sh', ['-c', scripts.start.replace(/node .*/, 'sh -c "echo \\$\\$"')], { encoding: 'utf8' });
  expect(child.stdout).toBe(`${child.pid}\n`);
  expect(scripts.demo).toMatch(/^exec node /);
});

/** Returns a clone with the scripts of the set-up and one package, which is in the clone, so that npm needs no network. */
function cloneWithOnePackage() {
  const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  const root = join(import.meta.dirname, '..');
  for (const folder of ['scripts', 'bin', join('native-bindings', 'lmdb-js')])
    cpSync(join(root, folder), join(clone, folder), { recursive: true });
  const write = (path, value) => writeFileSync(join(clone, path), JSON.stringify(value));
  const described = { name: 'clone', version: '0.0.0', type: 'module', engines: { node: '>=20.19' } };
  const own = { ...described, dependencies: { tern: 'file:tern' } };
  const tern = { name: 'tern', version: '1.0.0' };
  const packages = { '': own, tern, 'node_modules/tern': { resolved: 'tern', link: true } };
  mkdirSync(join(clone, 'tern'));
  write(join('tern', 'package.json'), tern);
  write('package.json', own);
  write('package-lock.json', { ...described, lockfileVersion: 3, requires: true, packages });
  return clone;
}

/** Sets up the packages of the clone. Returns its output and errors; the last line says whether the sign is still there. */
function setUpPackagesOf(clone) {
  const calls = `
    import { existsSync } from 'node:fs';
    import { setUpPackages } from './scripts/setup.mjs';
    // What it looks for behind the packages is not in this clone.
    await setUpPackages({ quiet: true }).catch(() => undefined);
    console.log('signed:', existsSync('dist/set-up.pid'));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', calls], {
    cwd: clone,
    encoding: 'utf8',
  });
  return [stdout, stderr];
}

const INSTALLED = [expect.stringMatching(/^Installing npm packages [^]*\nsigned: false\n$/), ''];

it('A set-up of packages removes its sign, so that a set-up in another process need not wait', () => {
  expect(setUpPackagesOf(cloneWithOnePackage())).toEqual(INSTALLED);
});

it('Packages are installed again if one is missing, although the list of npm has it', () => {
  const clone = cloneWithOnePackage();
  const packages = join(clone, 'node_modules');
  mkdirSync(join(packages, 'uWebSockets.js'), { recursive: true });
  writeFileSync(join(packages, 'uWebSockets.js', `uws_${process.platform}_${process.arch}_115.node`), '');
  symlinkSync(join(clone, 'tern'), join(packages, 'tern'));
  cpSync(join(clone, 'package-lock.json'), join(packages, '.package-lock.json'));
  expect(setUpPackagesOf(clone)).toEqual(['signed: false\n', '']);
  // Two npm processes at once leave such a folder.
  rmSync(join(packages, 'tern'));
  expect(setUpPackagesOf(clone)).toEqual(INSTALLED);
  expect(existsSync(join(packages, 'tern', 'package.json'))).toBe(true);
});

/** Replaces npm: starts another program, writes the numbers of both processes, and runs until it is killed. */
const LASTING_NPM = `
  const { spawn } = require('node:child_process');
  const { writeFileSync } = require('node:fs');
  const own = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
  writeFileSync('npm-processes.new', process.pid + ' ' + own.pid);
  require('node:fs').renameSync('npm-processes.new', 'npm-processes');
  setInterval(() => undefined, 1000);`;

/** Starts a set-up whose npm does not end. Returns `{ clone, setUp, npm }`: its process, and the numbers of npm's processes. */
async function lastingSetUp(program = LASTING_NPM, more = {}) {
  const clone = cloneWithOnePackage();
  writeFileSync(join(clone, 'npm-cli.cjs'), program);
  const env = { ...process.env, npm_execpath: join(clone, 'npm-cli.cjs'), ...more };
  const setUp = spawn(process.execPath, ['scripts/setup.mjs'], {
    cwd: clone,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const told = join(clone, 'npm-processes');
  await expect.poll(() => existsSync(told), { timeout: 30_000 }).toBe(true);
  const npm = readFileSync(told, 'utf8').split(' ').map(Number);
  onTestFinished(() => {
    for (const pid of npm.filter(isAtWork)) process.kill(pid, 'SIGKILL');
  });
  return { clone, setUp, npm };
}

/** True if the process runs. False for zombies, too. */
function isAtWork(pid) {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}

const endOf = (child) => new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));

it.each(
  /** @type {const} */ ([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGQUIT', 131],
  ]),
)('A set-up that gets %s ends its programs and waits for them', async (signal, status) => {
  const { clone, setUp, npm } = await lastingSetUp();
  setUp.kill(signal);
  const ended = await endOf(setUp);
  expect(npm.map(isAtWork)).toEqual([false, false]);
  expect(ended).toBe(status);
  expect(existsSync(join(clone, 'dist', 'set-up.pid'))).toBe(false);
});

it('A set-up kills programs that do not end when it gets a second signal', async () => {
  const program = `process.on('SIGTERM', () => undefined); ${LASTING_NPM}`;
  // Gives the programs more time than this test waits.
  const { setUp, npm } = await lastingSetUp(program, { SCRIPT_GIVEN_MS: '600000' });
  const ended = endOf(setUp);
  const told = new Promise((resolve) => setUp.stderr.once('data', resolve));
  setUp.kill('SIGINT');
  expect(String(await told)).toContain('another signal');
  setUp.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(npm.map(isAtWork)).toEqual([false, false]);
});

itWhere(tellsBeginnings, 'when a process began is not told here')(
  'After a restart of the machine, a killed set-up causes no foreign process to be ended',
  async () => {
    const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
    onTestFinished(() => rmSync(clone, { recursive: true }));
    mkdirSync(join(clone, 'dist'));
    // The leader of a process group ends, and another process of the group continues.
    const first = spawn('sh', ['-c', 'sleep 60 & echo $!'], {
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const other = Number(await new Promise((resolve) => first.stdout.once('data', resolve)));
    onTestFinished(() => {
      process.kill(other, 'SIGKILL');
    });
    if (first.exitCode === null) await endOf(first);
    const sign = `${spawnSync(process.execPath, ['-e', '']).pid} 1\n${first.pid} 1`;
    writeFileSync(join(clone, 'dist', 'set-up.pid'), sign);
    const told = [];
    await otherSetUpEnded(clone, (line) => told.push(line));
    expect(told).toEqual([]);
    expect(isAtWork(other)).toBe(true);
  },
);

itWhere(tellsBeginnings, 'when a process began is not told here')(
  'A set-up ends the programs of a killed one before it removes its files, and says so',
  async () => {
    const { clone, setUp, npm } = await lastingSetUp();
    setUp.kill('SIGKILL');
    expect(await endOf(setUp)).toBe('SIGKILL');
    expect(npm.map(isAtWork)).toEqual([true, true]);
    expect(setUpPackagesOf(clone)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^What a set-up ran that was killed .*\\(process ${npm[0]}\\): it is ended …\n(?:.*\n)*signed: false\n$`,
        ),
      ),
      '',
    ]);
    expect(npm.map(isAtWork)).toEqual([false, false]);
  },
);

it('The program names the version that it needs if Node.js is too old', () => {
  const clone = mkdtempSync(join(tmpdir(), 'gannet-launch-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  cpSync(join(import.meta.dirname, '..', 'bin'), join(clone, 'bin'), { recursive: true });
  writeFileSync(join(clone, 'package.json'), '{"type":"module","engines":{"node":">=99.3"}}');
  const { stderr, status } = spawnSync(process.execPath, ['bin/gannet.js', 'list'], { cwd: clone, encoding: 'utf8' });
  expect(stderr).toMatch(/^Node\.js [\d.]+ is too old: install Node\.js 99\.3 or newer .* first in PATH\.\n$/);
  expect(status).toBe(3);
});
