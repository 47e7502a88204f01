/**
 * Runs what docs/bare-metal.md tells people to type, in its order, below a folder of its own in the place of `/`. In the
 * place of systemd, this test starts and stops what the units say. Users and their rights are those of whoever tests.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { parse } from 'yaml';
import { replaced, runCommands } from '../support/documented-commands.js';
import { codeBlocks, type CodeBlock } from '../support/documentation.js';
import { eventually } from '../support/eventually.js';
import { listenForNotes } from '../support/notify-socket.js';
import { whyWithout } from '../support/programs.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { itWhere } from '../support/skip.js';

const PACKAGE = join(import.meta.dirname, '../..');
const PAGE = 'docs/bare-metal.md';
const root = mkdtempSync(join(tmpdir(), 'gannet-installed-'));
const at = (path: string) => join(root, path);
/** The folders of a machine that the page names. */
const FOLDERS = ['/etc', '/opt', '/srv', '/usr/local/bin', '/var/lib', '/mnt'];
const STAND_INS = {
  '<where you have it from>': PACKAGE,
  // The name of a backup that the commands themselves have made.
  '/srv/backups/20261122T081500Z': '$(ls -d /srv/backups/2* | tail -n 1)',
  '/opt/gannet-OLD': '/opt/gannet-1',
};
/** The folders come last: what stands for something names them, too. */
const onThisMachine = (text: string) =>
  replaced(text, STAND_INS).replaceAll(new RegExp(`(?<![\\w/.-])(?:${FOLDERS.join('|')})/`, 'g'), (path) => at(path));

let manager: ScriptedServer;
let service: ChildProcess | undefined;
let address = '';

/** Programs that change the machine. Whoever tests is the only user, and every release is this one. */
const functions = () => `
systemctl() { curl -sS -d "$*" ${manager.url()}; }
journalctl() { cat '${at('journal')}'; }
sudo() { shift 2; env "$@"; }
useradd() { :; }
chown() { :; }
npm() { :; }
install() { mkdir -p -m 0700 "\${@: -1}"; }
git() { ln -s "$2" "$3"; }
rsync() { mv '${at('/var/lib/gannet')}' '${at('/old-machine')}'; }
`;

/** Returns the lines of a unit with this name. */
function unitLines(unit: string, name: string): readonly string[] {
  const lines = readFileSync(at(`/etc/systemd/system/${unit}.service`), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1));
}

/** Variables that a unit sets, and those of the file that it names. */
function environmentOf(unit: string): Readonly<Record<string, string>> {
  const file = unitLines(unit, 'EnvironmentFile').map((path) => onThisMachine(path.replace(/^-/, '')))[0];
  const ofFile = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const lines = [...unitLines(unit, 'Environment').map(onThisMachine), ...ofFile];
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

/** Starts what a unit says, and resolves when it serves, or has ended. */
async function start(unit: string): Promise<void> {
  const [command = ''] = unitLines(unit, 'ExecStart').map(onThisMachine);
  const isService = unitLines(unit, 'Type')[0] === 'notify';
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_'));
  const path = `${at('/usr/local/bin')}:${process.env['PATH']}`;
  const socket = at(`notify-${Date.now()}`);
  const env = { ...Object.fromEntries(inherited), PATH: path, GANNET_PORT: '0', ...environmentOf(unit) };
  const [directory] = unitLines(unit, 'StateDirectory');
  if (directory !== undefined) mkdirSync(at(`/var/lib/${directory}`), { recursive: true, mode: 0o700 });
  const notes = isService ? await listenForNotes(socket) : undefined;
  const journal = openSync(at('journal'), 'a');
  const child = spawn('/bin/sh', ['-c', `exec ${command}`], {
    env: isService ? { ...env, NOTIFY_SOCKET: socket } : env,
    stdio: ['ignore', journal, journal],
  });
  closeSync(journal);
  const end = new Promise<number | null>((resolve) => child.once('close', resolve));
  if (notes === undefined) {
    expect(await end, readFileSync(at('journal'), 'utf8').slice(-1000)).toBe(0);
    return;
  }
  service = child;
  await eventually(
    () => Promise.resolve({ notes: notes.heard.join('\n'), status: child.exitCode }),
    (now) => now.notes.includes('READY=1') || now.status !== null,
  );
  notes.close();
  address = /http:\S+/.exec(notes.heard.join('\n'))?.[0] ?? '';
  expect(address, readFileSync(at('journal'), 'utf8').slice(-1000)).not.toBe('');
}

async function stop(): Promise<void> {
  const child = service;
  service = undefined;
  if (child === undefined || child.exitCode !== null) return;
  const end = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  expect(await end).toBe(0);
}

/** Does what systemctl is called for. Fails for a unit that is not there. */
async function manage(words: string): Promise<void> {
  const [, verb = '', unit = ''] =
    /^(start|stop|restart|enable --now|disable --now|daemon-reload) ?([\w.-]*)$/.exec(words) ?? [];
  if (verb === 'daemon-reload') return;
  if (unit.endsWith('.timer')) {
    expect(existsSync(at(`/etc/systemd/system/${unit}`))).toBe(true);
    return;
  }
  expect(['gannet', 'gannet-backup'], words).toContain(unit);
  if (/^(?:stop|disable|restart)/.test(verb)) await stop();
  if (!/^(?:stop|disable)/.test(verb)) await start(unit);
}

/** What has to be there before a block, by its first line. */
const GIVEN: Readonly<Record<string, () => void | Promise<void>>> = {
  'cd /opt/gannet-NEW && npm run setup                       # the old release goes on running': () => {
    symlinkSync(PACKAGE, at('/opt/gannet-NEW'));
  },
  [`journalctl -u gannet -o cat | grep -F '"operation":"list.delete"' | grep -F '"list":"products"'`]: async () => {
    const call = 'GANNET_DATA_DIR=/var/lib/gannet gannet call';
    await shell(`${call} list.create --body '{"name": "products"}' && ${call} list.delete --param list=products`);
  },
};

const shell = (commands: string): Promise<string> =>
  runCommands(onThisMachine(commands), {
    folder: root,
    env: { PATH: `${at('/usr/local/bin')}:${process.env['PATH']}`, GANNET_PORT: '0' },
    standIns: {},
    functions: functions(),
  });

/** Writes the units of a block, each below a line with its path, and has systemd look at them where it is installed. */
function writeUnits(text: string): void {
  const units = [...text.matchAll(/^# (\/etc\/\S+)\n((?:(?!# \/).*\n)*)/gm)];
  expect(units.length).toBeGreaterThan(0);
  for (const [, path = '', unit = ''] of units) writeFileSync(at(path), onThisMachine(unit));
  if (whyWithout('systemd-analyze') !== undefined) return;
  const paths = units.map(([, path = '']) => at(path));
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths], { encoding: 'utf8' });
  expect(`${stdout}${stderr}`).toBe('');
}

/** Writes a block of settings, and expects that the service uses them. */
async function writeSettings(text: string): Promise<void> {
  mkdirSync(at('/etc/gannet'), { recursive: true });
  writeFileSync(at('/etc/gannet/environment'), text);
  await manage('restart gannet');
  const settings = await shell('GANNET_DATA_DIR=/var/lib/gannet gannet service settings');
  for (const line of text.trim().split('\n')) {
    const [name = '', value = ''] = line.split('=');
    expect(settings).toContain(value);
    expect(settings).toContain(name);
  }
}

async function checkScrape(text: string): Promise<void> {
  const config = parse(text) as { rule_files: string[]; scrape_configs: { static_configs: { targets: string[] }[] }[] };
  for (const path of config.rule_files) expect(existsSync(onThisMachine(path)), path).toBe(true);
  expect(config.scrape_configs.flatMap((each) => each.static_configs).flatMap((each) => each.targets)).toEqual([
    '127.0.0.1:8400',
  ]);
  const answer = await fetch(new URL('/metrics', address));
  expect(await answer.text()).toContain('# HELP gannet_');
}

async function run(block: CodeBlock): Promise<void> {
  await GIVEN[block.begins]?.();
  if (block.language === 'ini') writeUnits(block.text);
  else if (block.language === 'yaml') await checkScrape(block.text);
  else if (/^GANNET_\w+=\S+$/.test(block.begins)) await writeSettings(block.text);
  else {
    expect(block.language).toBe('sh');
    await shell(block.text);
  }
}

beforeAll(async () => {
  for (const folder of [...FOLDERS, '/etc/systemd/system']) mkdirSync(at(folder), { recursive: true });
  manager = await ScriptedServer.start();
  manager.script = ({ body }, response) => {
    manage(body).then(
      () => response.end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  };
});
afterAll(async () => {
  await stop();
  await manager.close();
  rmSync(root, { recursive: true, force: true });
});

const why = whyWithout('bash', 'curl', 'python3');
for (const block of codeBlocks(PAGE))
  itWhere(why === undefined, why ?? '')(`${PAGE}: ${block.begins}`, () => run(block));
