/**
 * A sign that a set-up is at work, for whoever calls the program meanwhile, and for another set-up: a file with its process and those of the programs that it runs
 * (`bin/set-up-sign.cjs` reads it).
 */
import { linkSync, mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endGroup, isAtWork, isAtWorkIn, onPrograms } from './children.mjs';

const { begun, processSign, signPath, signed, signedProcess } = createRequire(import.meta.url)(
  '../../bin/set-up-sign.cjs',
);

const LOOK_AGAIN_MS = 200;

/**
 * Returns what takes the sign away again, when no other set-up is at work there: two at once would take each other's files away, and what the other one has made
 * need not be made again. `tell` gets a line where there is one. Where the sign cannot be written nobody is told, and the set-up says why it fails itself.
 */
export async function showSetUp(root, tell) {
  while (!signs(root)) await otherSetUpEnded(root, tell);
  const hide = () => rmSync(signPath(root), { force: true });
  process.once('exit', hide);
  onPrograms((pids) => writeSign(root, pids));
  return () => {
    onPrograms(undefined);
    process.off('exit', hide);
    hide();
  };
}

/** Resolves when no other set-up is at work there, nor what one ran that was killed: that is ended. */
export async function otherSetUpEnded(root, tell) {
  const pid = otherSetUp(root);
  if (pid !== undefined) {
    tell(`Another set-up is at work here (process ${pid}): this one goes on when that has ended …\n`);
    while (otherSetUp(root) !== undefined) await sleep(LOOK_AGAIN_MS);
  }
  const left = leftPrograms(root);
  if (left.length === 0) return;
  const which = `${left.length === 1 ? 'process' : 'processes'} ${left.map(({ pid }) => pid).join(', ')}`;
  const isCertain = left.every(({ since }) => since !== undefined);
  tell(
    `What a set-up ran that was killed is still at work here (${which}): ${isCertain ? 'it is ended' : 'this one goes on when that has ended'} …\n`,
  );
  if (isCertain) await Promise.all(left.map(({ pid }) => endGroup(pid)));
  else while (leftPrograms(root).length > 0) await sleep(LOOK_AGAIN_MS);
}

function otherSetUp(root) {
  const pid = signedProcess(root);
  return pid === process.pid ? undefined : pid;
}

/**
 * What a set-up ran that was killed, where it is still at work. A number is not given to another process while a group has it; but behind a start of the machine, or
 * of a container, it may be that of somebody else's group, whose first process has ended.
 */
function leftPrograms(root) {
  const { setUp, programs } = signed(root);
  if (setUp === undefined || signedProcess(root) !== undefined) return [];
  return programs.filter(({ pid, since }) => {
    if (!isAtWork(pid)) return false;
    const now = begun(pid);
    return now === '' ? since === undefined || isAtWorkIn(pid, root) : now === since;
  });
}

/** False where another one is there, or was until now. The sign is there as a whole or not at all. */
function signs(root) {
  const path = signPath(root);
  const own = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(own, processSign(process.pid));
    linkSync(own, path);
  } catch (error) {
    if (error.code !== 'EEXIST') return true;
    // Of one that was killed.
    if (otherSetUp(root) === undefined && leftPrograms(root).length === 0) rmSync(path, { force: true });
    return false;
  } finally {
    rmSync(own, { force: true });
  }
  return true;
}

/** Where the disk is full, what else the set-up does says so. */
function writeSign(root, programs) {
  const path = signPath(root);
  const own = `${path}.${process.pid}`;
  try {
    writeFileSync(own, [process.pid, ...programs].map(processSign).join('\n'));
    // Its time is that at which the set-up began.
    const { atime, mtime } = statSync(path);
    utimesSync(own, atime, mtime);
    renameSync(own, path);
  } catch {
    rmSync(own, { force: true });
  }
}
