/**
 * Tests the service under a manager such as systemd that waits for its notifications: what it sends, and the unit
 * that asks for them.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { listenForNotes, type NotifySocket } from '../support/notify-socket.js';
import { startTestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-manager-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const onLinux = itWhere(process.platform === 'linux', 'only Linux has managers that listen so');

describe('a service manager that waits for notifications', () => {
  onLinux('is told when it serves, that it lives, and that it stops', async () => {
    const manager = await listenForNotes(join(folder, 'notify'));
    const env = { NOTIFY_SOCKET: join(folder, 'notify'), WATCHDOG_USEC: '200000' };
    const service = await startTestService({ env });
    try {
      await eventually(
        () => Promise.resolve(manager.heard.filter((note) => note === 'WATCHDOG=1').length),
        (count) => count >= 3,
      );
      expect(manager.heard.filter((note) => !/^(WATCHDOG|EXTEND)/.test(note))).toEqual([
        `READY=1\nSTATUS=Serving on ${service.address}`,
      ]);
      expect(await service.stop()).toBe(0);
      await toldToStop(manager);
    } finally {
      await service.close();
      manager.close();
    }
  });

  onLinux('costs a line in the log if it is gone', async () => {
    const service = await startTestService({ env: { NOTIFY_SOCKET: join(folder, 'nobody') } });
    try {
      expect((await service.client.get('/health')).status).toBe(200);
      await eventually(
        () => Promise.resolve(service.output),
        (log) => log.includes('Could not report the state of the service to the service manager'),
      );
    } finally {
      await service.close();
    }
  });
});

const toldToStop = (manager: NotifySocket) =>
  eventually(
    () => Promise.resolve(manager.heard.at(-1)),
    (last) => last === 'STOPPING=1\nSTATUS=Stopping',
  );

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe('the unit for systemd', () => {
  itWhere(hasSystemd, 'systemd-analyze, which checks units, is not installed here')(
    'is accepted by systemd, whatever its paths are',
    async () => {
      const settings = join(folder, 'of $HOME 100%.toml');
      writeFileSync(settings, '');
      for (const options of [[], ['--data', '/srv/a "b" c%d', '--user', 'search', '--config', settings]]) {
        const { status, output } = await gannet(join(folder, 'data'), 'systemd-unit', ...options);
        expect(status).toBe(0);
        const unit = join(folder, 'gannet.service');
        writeFileSync(unit, output);
        const said = execFileSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
        expect(said).toBe('');
      }
    },
  );

  it('starts this program with paths that are escaped for systemd', async () => {
    const settings = join(folder, 'of $HOME 100%.toml');
    writeFileSync(settings, '');
    const options = ['--data', '/srv/a "b" c%d', '--user', 'search', '--config', settings];
    const { output } = await gannet(join(folder, 'data'), 'systemd-unit', ...options);
    const lines = output.split('\n');
    expect(lines).toContain('User=search');
    expect(lines).toContain('Environment="GANNET_DATA_DIR=/srv/a \\"b\\" c%%d"');
    expect(lines).toContain('ReadWritePaths="/srv/a \\"b\\" c%%d"');
    const start = lines.find((line) => line.startsWith('ExecStart='));
    expect(start).toMatch(
      new RegExp(`^ExecStart=${process.execPath} .*/bin/gannet.js serve --config ".*/of \\$\\$HOME 100%%.toml"$`),
    );
    const usual = await gannet(join(folder, 'data'), 'systemd-unit');
    expect(usual.output).toContain('\nStateDirectory=gannet\nStateDirectoryMode=0700\n');
    expect(usual.output).not.toMatch(/\{\w+\}/);
  });

  it('retries without end: a disk that came after six seconds used to find the unit failed, after five starts', async () => {
    const { output } = await gannet(join(folder, 'data'), 'systemd-unit');
    const [head = ''] = output.split('[Service]');
    expect(head).toMatch(/^\[Unit\]$[^]*^StartLimitIntervalSec=0$/m);
  });

  it('comes with the command that makes a data directory which systemd does not make: the start failed without a word of the service', async () => {
    const told = async (...options: string[]) => (await gannet(join(folder, 'data'), 'systemd-unit', ...options)).notes;
    expect(await told('--data', join(folder, 'not there'), '--user', 'search')).toBe(
      `Make the data directory before the first start: install -d -o search -m 0700 '${join(folder, 'not there')}'\n`,
    );
    expect(await told('--data', folder)).toBe('');
    expect(await told()).toBe('');
  });

  it.each([
    [['--user', 'no one'], '"no one" is not a valid user name'],
    [['--data', 'data'], '--data must be an absolute path'],
    [['--data', '/srv/a\nUser=root'], 'cannot be written in a systemd unit'],
  ])('is refused for %j', async (options, sentence) => {
    const { status, output, notes } = await gannet(join(folder, 'data'), 'systemd-unit', ...options);
    expect([status, output]).toEqual([2, '']);
    expect(notes).toContain(sentence);
  });
});

it('The systemd unit keeps the link that the program was called by, so that turning the link back changes the release', () => {
  const release = join(folder, 'current');
  symlinkSync(join(import.meta.dirname, '../..'), release);
  const unit = (program: string) =>
    spawnSync(process.execPath, [program, 'systemd-unit'], { encoding: 'utf8' }).stdout.match(
      /^ExecStart=\S+ (.*) serve$/m,
    )?.[1];
  const program = join(release, 'bin', 'gannet.js');
  expect(unit(program)).toBe(program);
  const command = join(folder, 'gannet');
  symlinkSync(program, command);
  expect(unit(command)).toBe(command);
});

it('The alerts and the dashboard use only metrics that exist, and the metrics have names as Prometheus wants them', async () => {
  const service = await startTestService();
  try {
    const { text } = await service.clientWith(undefined).get('/metrics');
    const measured = new Set([...text.matchAll(/^# HELP (\w+)/gm)].map(([, name]) => name));
    const rules = readFileSync(join(import.meta.dirname, '../../config/prometheus-alerts.yml'), 'utf8');
    const dashboard = readFileSync(join(import.meta.dirname, '../../config/grafana-dashboard.json'), 'utf8');
    expect([rules, dashboard].map((text) => text.split('gannet_').length > 8)).toEqual([true, true]);
    const asked = [...`${rules} ${dashboard}`.matchAll(/\b(gannet_\w+|process_\w+)/g)].map(([name]) => name);
    expect(asked.filter((name) => !measured.has(name.replace(/_bucket$/, '')))).toEqual([]);
    // The rule of Prometheus' own linter (`promtool check metrics`) for names: counters have this ending, and nothing
    // else has.
    const kinds = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', kind]) => ({ name, kind }));
    expect(kinds.filter(({ name, kind }) => name.endsWith('_total') !== (kind === 'counter'))).toEqual([]);
  } finally {
    await service.close();
  }
});
