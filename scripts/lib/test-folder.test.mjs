import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { controlGroup } from '../../test/support/control-group.ts';
import setUpFolder from '../../test/support/own-temporary-folder.ts';
import { skipUnless } from '../../test/support/skip.ts';
import { memoryLimitBytes } from './memory-limit.mjs';

const MODULE = fileURLToPath(new URL('test-folder.mjs', import.meta.url));
const GIB = 2 ** 30;

/** @typedef {{ within?: readonly string[]; shell?: string; memoryFolder?: string; then?: string; env?: NodeJS.ProcessEnv }} Opening */

/** Opens a folder in another process, started by the program `within` and after the commands `shell`. Runs `then` there. Returns the path. */
function opened({ within = [], shell = ':', memoryFolder, then = '', env = {} } = /** @type {Opening} */ ({})) {
  const { TMPDIR: _, TMP: __, TEMP: ___, ...others } = process.env;
  const script = `import { openTestFolder } from '${MODULE}';
    const { folder } = openTestFolder('gannet-stage', ${JSON.stringify(memoryFolder)});
    console.log(folder); ${then}`;
  const words = [...within, '/bin/sh', '-ec', `${shell}; exec "$0" --input-type=module -e "$1"`];
  const [program, ...args] = [...words, process.execPath, script];
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env: { ...others, ...env } });
  expect(stderr).toBe('');
  return stdout.trim();
}

const folderOf = () => mkdtempSync(join(tmpdir(), 'gannet-places-'));

/** Opens a folder with a memory file system mounted for that process only. */
function openedOn(options) {
  const at = folderOf();
  const shell = `mount -t tmpfs -o ${options} tmpfs ${at}`;
  return { at, folder: opened({ within: ['unshare', '-m'], shell, memoryFolder: at }) };
}

const mayMount = spawnSync('unshare', ['-m', 'true']).status === 0;

describe('folder of a test run', () => {
  it('is in memory unless programs cannot run there', (context) => {
    skipUnless(context, mayMount, 'nothing can be mounted here');
    const usual = openedOn('size=8g');
    skipUnless(context, usual.folder.startsWith(usual.at), 'there is not enough memory here');
    const refusing = openedOn('size=8g,noexec');
    expect(dirname(refusing.folder)).toBe('/tmp');
  });

  it('is not in memory if the control group allows little memory', (context) => {
    const group = controlGroup('gannet-folder', 2 * GIB);
    skipUnless(context, group !== undefined, 'no control group can be made here');
    try {
      const usual = opened();
      skipUnless(context, usual.startsWith('/dev/shm/'), 'there is not enough memory here');
      expect(dirname(opened({ shell: group.enter }))).toBe('/tmp');
    } finally {
      group.remove();
    }
  });

  it('is removed at the end of its process or by the next run, and stays while its process runs', () => {
    const TMPDIR = folderOf();
    const env = { TMPDIR };
    const ended = opened({ env });
    expect(existsSync(ended)).toBe(false);
    const left = opened({ env, then: `process.kill(process.pid, 'SIGKILL'); for (;;);` });
    writeFileSync(join(left, 'file'), 'left');
    const [space, pid] = basename(left).split('-').slice(2);
    const others = [
      `gannet-stage-${space}-${process.pid}-abcdef`,
      `gannet-stage-1-${pid}-abcdef`,
      'gannet-stage-abcdef',
      'another',
    ];
    for (const name of others) mkdirSync(join(TMPDIR, name));
    opened({ env });
    expect(readdirSync(TMPDIR).sort()).toEqual(others.sort());
  });

  it('is removed with file systems that tests mounted in it, also after its run was killed', (context) => {
    const TMPDIR = folderOf();
    const mayMountHere = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', TMPDIR]).status === 0;
    skipUnless(context, mayMountHere, 'nothing can be mounted here');
    spawnSync('umount', [TMPDIR]);
    const mounting = `const { execFileSync } = await import('node:child_process');
      const { mkdirSync } = await import('node:fs');
      for (const path of ['a disk', 'a disk/within']) {
        mkdirSync(\`\${folder}/\${path}\`);
        execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', \`\${folder}/\${path}\`]);
      }`;
    const ended = opened({ env: { TMPDIR }, then: mounting });
    expect(existsSync(ended)).toBe(false);
    const killed = opened({ env: { TMPDIR }, then: `${mounting} process.kill(process.pid, 'SIGKILL'); for (;;);` });
    expect(existsSync(killed)).toBe(true);
    opened({ env: { TMPDIR } });
    expect(readdirSync(TMPDIR)).toEqual([]);
  });
});

describe('folder of this test run', () => {
  it('is the same for all projects of the run', () => {
    const { TMPDIR } = process.env;
    expect(TMPDIR.match(/gannet-(?:tests|stage)-/g)).toHaveLength(1);
    expect(setUpFolder()).toBeUndefined();
    expect(process.env.TMPDIR).toBe(TMPDIR);
  });
});

describe('memoryLimitBytes', () => {
  const limit = (files) => memoryLimitBytes((path) => files[path]);

  it('returns the least limit of control groups of both versions, or Infinity without any', () => {
    const unified = { '/proc/self/cgroup': '0::/system.slice/tests.service\n' };
    expect(limit({})).toBe(Infinity);
    expect(limit({ ...unified, '/sys/fs/cgroup/system.slice/memory.max': 'max\n' })).toBe(Infinity);
    expect(
      limit({
        ...unified,
        '/sys/fs/cgroup/system.slice/memory.max': `${3 * GIB}\n`,
        '/sys/fs/cgroup/system.slice/tests.service/memory.high': `${2 * GIB}\n`,
        '/sys/fs/cgroup/system.slice/tests.service/memory.max': `${4 * GIB}\n`,
      }),
    ).toBe(2 * GIB);
    const first = { '/proc/self/cgroup': '4:memory:/docker/a:b\n1:cpu:/\n0::/\n' };
    expect(limit({ ...first, '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${GIB}\n` })).toBe(GIB);
    expect(limit({ ...first, '/sys/fs/cgroup/memory/docker/a:b/memory.limit_in_bytes': `${GIB}\n` })).toBe(GIB);
  });
});
