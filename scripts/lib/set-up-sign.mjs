/** A sign that a set-up is at work, for whoever calls the program meanwhile, and for another set-up: a file with its process (`bin/set-up-sign.cjs` reads it). */
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { processSign, signPath, signedProcess } = createRequire(import.meta.url)('../../bin/set-up-sign.cjs');

const LOOK_AGAIN_MS = 200;

/**
 * Returns what takes the sign away again, when no other set-up is at work there: two at once would take each other's files away, and what the other one has made
 * need not be made again. `tell` gets a line where there is one. Where the sign cannot be written nobody is told, and the set-up says why it fails itself.
 */
export async function showSetUp(root, tell) {
  while (!signs(root)) await otherSetUpEnded(root, tell);
  const hide = () => rmSync(signPath(root), { force: true });
  process.once('exit', hide);
  return () => {
    process.off('exit', hide);
    hide();
  };
}

/** Resolves when no other set-up is at work there. */
export async function otherSetUpEnded(root, tell) {
  const pid = otherSetUp(root);
  if (pid === undefined) return;
  tell(`Another set-up is at work here (process ${pid}): this one goes on when that has ended …\n`);
  while (otherSetUp(root) !== undefined) await sleep(LOOK_AGAIN_MS);
}

function otherSetUp(root) {
  const pid = signedProcess(root);
  return pid === process.pid ? undefined : pid;
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
    if (otherSetUp(root) === undefined) rmSync(path, { force: true });
    return false;
  } finally {
    rmSync(own, { force: true });
  }
  return true;
}
