/** Where tests make their folders. */
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

/** What the tests leave and remove again, at most, with as much to spare. */
const MEMORY_FREE_BYTES_MIN = 4 * 2 ** 30;
/** What is in the folder counts as memory of who wrote it, beside what the tests and their services take. */
const MEMORY_LIMIT_BYTES_MIN = 2 * MEMORY_FREE_BYTES_MIN;
const MEMORY_FOLDER = '/dev/shm';
const PROGRAM = '#!/bin/sh\nexit 0\n';

/** Who made a folder is told by its name: the process, and the space in which its number is one; a container has a space of its own. */
const NAME = /^gannet-[a-z]+-(?<space>[\da-z]+)-(?<pid>\d+)-\w{6}$/;

/**
 * A folder of this beginning (`gannet-stage`) for all that is temporary, and what takes it away with whatever is in it; so does the end of this
 * process. What is left of processes that were killed is taken away now. In memory, where there is room: a process that is killed loses nothing
 * of what it wrote there, as on a disk; that files are synced at the right moments is not shown by either.
 */
export function openTestFolder(prefix, memoryFolder = MEMORY_FOLDER) {
  const { TMPDIR } = process.env;
  const places = TMPDIR === undefined ? [memoryFolder, tmpdir()] : [TMPDIR];
  for (const place of places) sweep(place);
  const inMemory = TMPDIR === undefined && hasRoom(memoryFolder) ? folderIn(memoryFolder, prefix) : undefined;
  const folder = inMemory ?? mkdtempSync(join(tmpdir(), beginning(prefix)));
  // As the system's folder for such files: others pass through, so that what a test says of them is said by its own folders.
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
    // A file system in memory is as large as it was declared, whatever memory there is.
    const { bavail, bsize } = statfsSync(memoryFolder);
    return Math.min(bavail * bsize, freemem()) >= MEMORY_FREE_BYTES_MIN && memoryLimitBytes() >= MEMORY_LIMIT_BYTES_MIN;
  } catch {
    return false;
  }
}

/** Undefined where programs that tests put there could not be run: in containers it often is so. */
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
    // Somewhere else, then.
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  return undefined;
}

const beginning = (prefix) => `${prefix}-${space()}-${process.pid}-`;

/** The space that this process has its number in, in few letters: paths of sockets begin with it. 0 where the system has but one. */
function space() {
  try {
    return Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 0).toString(36);
  } catch {
    return '0';
  }
}

/** Takes folders away that processes of this user have left, and that are gone. */
function sweep(place) {
  for (const name of namesIn(place)) {
    const { space: of, pid } = NAME.exec(name)?.groups ?? {};
    if (of !== space() || isThere(Number(pid))) continue;
    const folder = join(place, name);
    try {
      const found = lstatSync(folder);
      if (found.isDirectory() && found.uid === process.getuid()) removeWithMounts(folder);
    } catch {
      // Another run is at it.
    }
  }
}

/** Tests of full and damaged disks mount file systems of their own; those of a run that was ended are still there, and keep the folder from being removed. */
function removeWithMounts(folder) {
  // Those within others are named after them.
  for (const mounted of mountsBelow(folder).reverse()) spawnSync('umount', ['--lazy', mounted]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** In the order in which they were mounted. None where the system does not list them there. */
function mountsBelow(folder) {
  let table = '';
  try {
    table = readFileSync('/proc/self/mounts', 'utf8');
  } catch {
    // Not Linux.
  }
  const points = table.split('\n').map((line) => line.split(' ')[1] ?? '');
  // Blanks and the like are written as octal numbers.
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
    // EPERM is said of a process of somebody else.
    return error.code !== 'ESRCH';
  }
}
