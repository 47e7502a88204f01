/** A sign that a set-up is at work, for whoever calls the program meanwhile (`bin/gannet.js`): its process, in a file. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

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
