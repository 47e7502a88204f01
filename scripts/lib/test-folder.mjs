/** Makes the folder for the temporary files of tests. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryLimitBytes } from './memory-limit.mjs';

/** Twice the largest size of the tests' temporary files. */
const MEMORY_FREE_BYTES_MIN = 4 * 2 ** 30;
/** Files in memory count as memory of the process that wrote them, besides what tests and their services take. */
const MEMORY_LIMIT_BYTES_MIN = 2 * MEMORY_FREE_BYTES_MIN;
const MEMORY_FOLDER = '/dev/shm';
const PROGRAM = '#!/bin/sh\nexit 0\n';

/** Name of a folder, with the process that made it and the namespace of its number. A container has its own namespace. */
const NAME = /^gannet-[a-z]+-(?<space>[\da-z]+)-(?<pid>\d+)-\w{6}$/;

/**
 * Makes a folder for temporary files, whose name begins with `prefix` (`gannet-stage`). Returns it with a function that removes it, which the end of this
 * process does as well. Removes the folders of killed processes first. Uses memory if there is room. As on a disk, a killed process loses nothing that
 * it wrote there. Neither shows whether files are synced at the right moments.
 */
export function openTestFolder(prefix, memoryFolder = MEMORY_FOLDER) {
  const { TMPDIR } = process.env;
  const places = TMPDIR === undefined ? [memoryFolder, tmpdir()] : [TMPDIR];
  for (const place of places) sweep(place);
  const inMemory = TMPDIR === undefined && hasRoom(memoryFolder) ? folderIn(memoryFolder, prefix) : undefined;
  const folder = inMemory ?? mkdtempSync(join(tmpdir(), beginning(prefix)));
  // Other users may pass through, as in the system's folder, so that only the folders of a test decide what they may do.
  chmodSync(folder, 0o711);
  const remove = () => {
    process.removeListener('exit', remove);
    try {
      removeWithMounts(folder);
    } catch (error) {
      process.stderr.write(`${folder} is left behind: ${error.message}\n`);
    }
  };
  process.once('exit', remove);
  return { folder, remove };
}

function hasRoom(memoryFolder) {
  try {
    // A memory file system has its declared size, even if there is less memory.
    const { bavail, bsize } = statfsSync(memoryFolder);
    return Math.min(bavail * bsize, freemem()) >= MEMORY_FREE_BYTES_MIN && memoryLimitBytes() >= MEMORY_LIMIT_BYTES_MIN;
  } catch {
    return false;
  }
}

/** Makes a folder there. Returns undefined if programs cannot run in it, which is frequent in containers. */
function folderIn(place, prefix) {
  let folder;
  try {
    folder = mkdtempSync(join(place, beginning(prefix)));
    const program = join(folder, 'program');
    writeFileSync(program, PROGRAM, { mode: 0o700 });
    const { status } = spawnSync(program);
    rmSync(program);
    if (status === 0) return folder;
  } catch {
    // The caller makes it elsewhere.
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  return undefined;
}

const beginning = (prefix) => `${prefix}-${space()}-${process.pid}-`;

/** Returns the namespace of this process's number in few letters, as paths of sockets are limited. 0 if the system has only one. */
function space() {
  try {
    return Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 0).toString(36);
  } catch {
    return '0';
  }
}

/** Removes the folders that ended processes of this user have left. */
function sweep(place) {
  for (const name of namesIn(place)) {
    const { space: of, pid } = NAME.exec(name)?.groups ?? {};
    if (of !== space() || isThere(Number(pid))) continue;
    const folder = join(place, name);
    try {
      const found = lstatSync(folder);
      if (found.isDirectory() && found.uid === process.getuid()) removeWithMounts(folder);
    } catch {
      // Another run removes it, too.
    }
  }
}

/** Removes a folder and file systems mounted in it. Tests of full and damaged disks mount some, and a killed run leaves them there. */
function removeWithMounts(folder) {
  // Nested mounts come behind the outer ones, so they are unmounted first.
  for (const mounted of mountsBelow(folder).reverse()) spawnSync('umount', ['--lazy', mounted]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Returns the mounts below the folder in the order in which they were mounted. Empty if the system has no such list. */
function mountsBelow(folder) {
  let table = '';
  try {
    table = readFileSync('/proc/self/mounts', 'utf8');
  } catch {
    // Not Linux.
  }
  const points = table.split('\n').map((line) => line.split(' ')[1] ?? '');
  // Spaces and similar characters are written as octal numbers.
  const paths = points.map((point) =>
    point.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(parseInt(code, 8))),
  );
  return paths.filter((path) => path.startsWith(`${folder}/`));
}

function namesIn(place) {
  try {
    return readdirSync(place);
  } catch {
    return [];
  }
}

function isThere(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user gives EPERM.
    return error.code !== 'ESRCH';
  }
}
