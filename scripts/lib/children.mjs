/**
 * Runs the programs of a script. Each leads a process group with all that it starts, so that none of these outlives a script that is ended by a signal:
 * an npm that outlives a set-up removes the files of the next one.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { statOf } = createRequire(import.meta.url)('../../bin/set-up-sign.cjs');

/** Signals that end the programs. A terminal sends SIGQUIT (Ctrl-\\), too, but to none of the groups. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
/** Time after which programs that have not ended are killed. A script run by another one has half of its time, so that it kills its own programs before it is killed. */
const GIVEN_MS = Number(process.env.SCRIPT_GIVEN_MS ?? 10_000);
/** Time that programs have after a second signal. */
const HURRIED_MS = Math.min(1000, GIVEN_MS / 10);
const TOLD_AFTER_MS = 1000;
const LOOK_AGAIN_MS = 50;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
/** @type {((pids: number[]) => void) | undefined} */
let listener;
let isEnding = false;
/** True if another signal may hurry the end. A script run by another one gets each signal once only, so it may from the beginning. */
let mayBeHurried = process.env.SCRIPT_GIVEN_MS !== undefined;
let hurriedUntilMs = Infinity;

/** Sets the function that is called with the process numbers of the running programs, now and at each change; undefined for none. */
export function onPrograms(listen) {
  listener = listen;
  tell();
}

const tell = () => listener?.([...running].map(({ pid }) => pid));

/**
 * Starts a program as `spawn` does, as the leader of its own group. While any program runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT end all of them and then this process,
 * with the status that a shell has for the signal. After the message that it waits for them, another signal has them killed soon.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 */
export function startProgram(command, args, options) {
  const env = { ...(options.env ?? process.env), SCRIPT_GIVEN_MS: String(GIVEN_MS / 2) };
  const child = spawn(command, args, { ...options, env, detached: true });
  // A program that cannot be started has no number.
  if (child.pid === undefined) return child;
  if (running.size === 0) for (const signal of SIGNALS) process.on(signal, endAll);
  running.add(child);
  tell();
  child.once('close', () => {
    running.delete(child);
    tell();
    if (running.size === 0 && !isEnding) for (const signal of SIGNALS) process.off(signal, endAll);
  });
  return child;
}

/** True while the programs are being ended. How they end is not reported then. */
export const programsAreEnded = () => isEnding;

async function endAll(signal) {
  if (isEnding) {
    // A signal of the terminal comes twice, as npm passes it on.
    if (mayBeHurried) hurry();
    return;
  }
  isEnding = true;
  const told = setTimeout(() => {
    mayBeHurried = true;
    process.stderr.write('\nEnding what runs (another signal, as Ctrl-C, kills it) …\n');
  }, TOLD_AFTER_MS);
  await Promise.all([...running].map(({ pid }) => endGroup(pid)));
  clearTimeout(told);
  process.exit(128 + constants.signals[signal]);
}

function hurry() {
  hurriedUntilMs = Math.min(hurriedUntilMs, performance.now() + HURRIED_MS);
  for (const { pid } of running) signalGroup(pid, 'SIGTERM');
}

/** Ends a program with all that it has started. Resolves when no process of its group runs any more. */
export async function endGroup(group) {
  const late = performance.now() + GIVEN_MS;
  signalGroup(group, 'SIGTERM');
  while (isAtWork(group)) {
    if (performance.now() > Math.min(late, hurriedUntilMs)) signalGroup(group, 'SIGKILL');
    await sleep(LOOK_AGAIN_MS);
  }
}

function signalGroup(group, signal) {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** True if a process of the group runs. False if all are zombies, which in many containers nobody ever reaps. */
export function isAtWork(group) {
  if (!signalGroup(group, 0)) return false;
  const members = membersOf(group);
  return members === undefined || members.length > 0;
}

/** True if a process of the group has its working directory in the folder or below it. */
export function isAtWorkIn(group, folder) {
  const path = realpathSync(folder);
  return (membersOf(group) ?? []).some((pid) => {
    try {
      return `${readlinkSync(`/proc/${pid}/cwd`)}${sep}`.startsWith(`${path}${sep}`);
    } catch {
      return false;
    }
  });
}

/** Returns the numbers of the group's running processes, as strings; undefined if the system has no /proc. */
function membersOf(group) {
  let processes;
  try {
    processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined;
  }
  return processes.filter((pid) => {
    const [state, , leader] = statOf(pid);
    return leader === String(group) && state !== 'Z' && state !== 'X';
  });
}
