// What says that a set-up is at work: its process, and when that began, for numbers of processes are used again. Written by `scripts/lib/set-up-sign.mjs`.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const signPath = (root) => join(root, 'dist', 'set-up.pid');

/** Of a process, what stands in its sign. */
const processSign = (pid) => `${pid} ${begun(pid)}`.trim();

/** The process of a set-up that is at work there; undefined where none is, or one that was killed. */
function signedProcess(root) {
  try {
    const [pid, since] = readFileSync(signPath(root), 'utf8').split(' ');
    if (!/^[1-9]\d*$/.test(pid) || !isAlive(Number(pid))) return undefined;
    return since === undefined || since === begun(pid) ? Number(pid) : undefined;
  } catch {
    return undefined;
  }
}

/** Also where it is somebody else's. */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** When the process began, in ticks since the machine did; '' where the system does not say it in this way. */
function begun(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, which may have blanks and parentheses, stands in parentheses as the second.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

module.exports = { processSign, signPath, signedProcess };
