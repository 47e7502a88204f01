/** The share of a machine that a process may use, from files of control groups as on real systems. */
import { describe, expect, it } from 'vitest';
import { machineShare, shareOf } from './machine-share.js';

const GIB = 2 ** 30;
const MACHINE = { memoryBytes: 64 * GIB, processors: 32 };
const V2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate';

const shareWith = (files: Readonly<Record<string, string>>) => shareOf(MACHINE, (path) => files[path]);

describe('shareOf', () => {
  it('is the whole machine if no control group has a limit, or there are none', () => {
    const all = { ...MACHINE, memoryLimitedBy: undefined };
    expect(shareWith({})).toEqual(all);
    expect(
      shareWith({
        '/proc/self/cgroup': '0::/user.slice\n',
        '/proc/self/mountinfo': V2,
        '/sys/fs/cgroup/user.slice/memory.max': 'max\n',
        '/sys/fs/cgroup/user.slice/memory.high': 'max\n',
        '/sys/fs/cgroup/user.slice/cpu.max': 'max 100000\n',
      }),
    ).toEqual(all);
  });

  it('is the limit of a container, which sees its own group as the root', () => {
    const files = {
      '/proc/self/cgroup': '0::/\n',
      '/proc/self/mountinfo': V2,
      '/sys/fs/cgroup/memory.max': `${GIB}\n`,
      '/sys/fs/cgroup/cpu.max': '150000 100000\n',
    };
    expect(shareWith(files)).toEqual({ memoryBytes: GIB, processors: 2, memoryLimitedBy: 'control group' });
  });

  it('is the lowest limit of the group and those above it', () => {
    const files = {
      '/proc/self/cgroup': '0::/system.slice/gannet.service\n',
      '/proc/self/mountinfo': `21 1 8:1 / / rw - ext4 /dev/sda1 rw\n${V2}\n`,
      '/sys/fs/cgroup/system.slice/memory.max': `${4 * GIB}\n`,
      '/sys/fs/cgroup/system.slice/cpu.max': '50000 100000\n',
      '/sys/fs/cgroup/system.slice/gannet.service/memory.max': 'max\n',
      '/sys/fs/cgroup/system.slice/gannet.service/memory.high': `${2 * GIB}\n`,
      '/sys/fs/cgroup/system.slice/gannet.service/cpu.max': '400000 100000\n',
    };
    expect(shareWith(files)).toEqual({ memoryBytes: 2 * GIB, processors: 1, memoryLimitedBy: 'control group' });
  });

  it.each([
    ['the whole tree', '/', '/sys/fs/cgroup/memory/docker/0a1b', '/sys/fs/cgroup/cpu,cpuacct/docker/0a1b'],
    ['the group of the container', '/docker/0a1b', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/cpu,cpuacct'],
  ])('reads control groups of version 1 if %s is mounted', (_, root, memory, cpu) => {
    const files = {
      '/proc/self/cgroup': '5:cpu,cpuacct:/docker/0a1b\n4:memory:/docker/0a1b\n0::/system.slice\n',
      '/proc/self/mountinfo': [
        `35 31 0:32 ${root} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory`,
        `33 31 0:30 ${root} /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct`,
      ].join('\n'),
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${root === '/' ? 2 ** 63 : 3 * GIB}\n`,
      [`${memory}/memory.limit_in_bytes`]: `${3 * GIB}\n`,
      [`${cpu}/cpu.cfs_quota_us`]: '200000\n',
      [`${cpu}/cpu.cfs_period_us`]: '100000\n',
    };
    expect(shareWith(files)).toEqual({ memoryBytes: 3 * GIB, processors: 2, memoryLimitedBy: 'control group' });
  });

  it('finds a share on this machine', () => {
    expect(machineShare().processors).toBeGreaterThanOrEqual(1);
    expect(machineShare().memoryBytes).toBeGreaterThan(0);
  });
});
