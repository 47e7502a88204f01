// What says that a set-up is at work: its process, and when that began, for numbers of processes are used again; and a line for each program that it runs, in the same form,
// which outlives a set-up that is killed. Written by `scripts/lib/set-up-sign.mjs`.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const signPath = (root) => join(root, 'dist', 'set-up.pid');

/** Of a process, what stands in its sign. */
const processSign = (pid) => `${pid} ${begun(pid)}`.trim();

/** What the sign says: `{ pid, since }` of the set-up and of each program that it runs, `since` undefined where the system does not tell. */
function signed(root) {
  try {
    const lines = readFileSync(signPath(root), 'utf8').trimEnd().split('\n');
    const processes = lines.map((line) => line.split(' ')).map(([pid, since]) => ({ pid: Number(pid), since }));
    const [setUp, ...programs] = processes.filter(({ pid }) => Number.isSafeInteger(pid) && pid > 0);
    return { setUp, programs };
  } catch {
    return { setUp: undefined, programs: [] };
  }
}

/** The process of a set-up that is at work there; undefined where none is, or one that was killed. */
function signedProcess(root) {
  const { setUp } = signed(root);
  if (setUp === undefined || !isAlive(setUp.pid)) return undefined;
  return setUp.since === undefined || setUp.since === begun(setUp.pid) ? setUp.pid : undefined;
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
const begun = (pid) => statOf(pid)[19] ?? '';

/** What `/proc` says of a process, from its state on (field 3 of proc_pid_stat(5)); nothing where there is none, or no such place. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, which may have blanks and parentheses, stands in parentheses as the second.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

module.exports = { begun, processSign, signPath, signed, signedProcess, statOf };
