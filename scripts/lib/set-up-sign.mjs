/** A sign that a set-up is at work, for whoever calls the program meanwhile (`bin/gannet.js`): its process, in a file. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_AGAIN_MS = 200;
const pathIn = (root) => join(root, 'dist', 'set-up.pid');

/** Returns what takes the sign away again. Where it cannot be written nobody is told, and the set-up says why it fails itself. */
export function showSetUp(root) {
  const path = pathIn(root);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, String(process.pid));
  } catch {
    return () => undefined;
  }
  const hide = () => rmSync(path, { force: true });
  process.once('exit', hide);
  return () => {
    process.off('exit', hide);
    hide();
  };
}

/** The process of another set-up that is at work there; undefined where none is, or one that was killed. */
function otherSetUp(root) {
  try {
    const pid = Number(readFileSync(pathIn(root), 'utf8'));
    process.kill(pid, 0);
    return pid === process.pid ? undefined : pid;
  } catch {
    return undefined;
  }
}

/** Two at once would take each other's files away; what the other one has made need not be made again. `tell` gets a line where there is one. */
export async function otherSetUpEnded(root, tell) {
  const pid = otherSetUp(root);
  if (pid === undefined) return;
  tell(`Another set-up is at work here (process ${pid}): this one goes on when that has ended …\n`);
  while (otherSetUp(root) !== undefined) await sleep(LOOK_AGAIN_MS);
}
