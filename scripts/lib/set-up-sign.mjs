/**
 * Shows a sign while a set-up runs, for calls of the program meanwhile and for other set-ups: a file with its process number and those of the programs that it
 * runs (`bin/set-up-sign.cjs` reads it).
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
 * Waits until no other set-up runs there, shows the sign, and returns a function that removes it. Two set-ups at once would remove each other's files, and what the
 * other one has built need not be built again. `tell` gets a line if it waits. If the sign cannot be written, the set-up itself will fail and say why.
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

/** Resolves when no other set-up runs there, and no programs of a killed set-up run, which are ended. */
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
 * Returns the programs of a killed set-up that still run. The system does not reuse the number of a group while it exists. But after a restart of the machine or
 * container, the number may belong to another group whose leader has ended.
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

/** Creates the sign atomically. Returns false if there is one of another set-up, or was until now. */
function signs(root) {
  const path = signPath(root);
  const own = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(own, processSign(process.pid));
    linkSync(own, path);
  } catch (error) {
    if (error.code !== 'EEXIST') return true;
    // Removes the sign of a killed set-up.
    if (otherSetUp(root) === undefined && leftPrograms(root).length === 0) rmSync(path, { force: true });
    return false;
  } finally {
    rmSync(own, { force: true });
  }
  return true;
}

/** Updates the sign. Ignores errors: if the disk is full, other steps of the set-up report it. */
function writeSign(root, programs) {
  const path = signPath(root);
  const own = `${path}.${process.pid}`;
  try {
    writeFileSync(own, [process.pid, ...programs].map(processSign).join('\n'));
    // Keeps the time of the sign, at which the set-up began.
    const { atime, mtime } = statSync(path);
    utimesSync(own, atime, mtime);
    renameSync(own, path);
  } catch {
    rmSync(own, { force: true });
  }
}
