/** The disk of a folder, determined from the mounts. */
import { expect, it } from 'vitest';
import { diskOf, mountsOf } from '../../platform/index.js';
import { callsOfDisk } from './folder-disks.js';

const MOUNTS = mountsOf(
  [
    '21 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw',
    '30 21 0:40 / /mnt/nas rw shared:2 - nfs4 server:/a rw',
    '31 21 0:41 / /mnt/nas2 rw - nfs4 other:/b rw',
    '32 21 8:17 / /mnt/my\\040disk rw - ext4 /dev/sdb1 rw',
    '33 21 0:42 / /mnt/nas2 rw - nfs4 third:/c rw',
    '34 30 8:17 /part /mnt/nas/below rw - ext4 /dev/sdb1 rw',
    '35 21 0:43 / /mnt/nameless rw - tmpfs  rw',
    '',
  ].join('\n'),
);

it.each([
  ['/srv/files', '8:1'],
  ['/mnt/nas', '0:40'],
  ['/mnt/nas/one/deep', '0:40'],
  ['/mnt/nas/below/it', '8:17'],
  ['/mnt/nas2/two', '0:42'],
  ['/mnt/nas3', '8:1'],
  ['/mnt/my disk/three', '8:17'],
  ['/mnt/nameless/four', '0:43'],
])('diskOf %s is %s', (path, disk) => {
  expect(diskOf(path, MOUNTS)).toBe(disk);
});

it('Stores have separate calls if their disks are unknown', () => {
  expect(diskOf('/srv/one', [])).toBeUndefined();
  expect(callsOfDisk('/srv/one', [])).toBe(callsOfDisk('/srv/one', []));
  expect(callsOfDisk('/srv/one', [])).not.toBe(callsOfDisk('/srv/other', []));
});

it('Stores on one disk share their calls, and those on different disks do not', () => {
  expect(callsOfDisk('/proc/one')).toBe(callsOfDisk('/proc/other'));
  expect(callsOfDisk('/proc/one')).not.toBe(callsOfDisk('/dev/shm/one'));
});
