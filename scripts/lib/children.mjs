/**
 * The programs that a script runs. Each leads a group of its own with whatever it starts, so that none of them lives on when the script is ended by a signal:
 * npm that outlives a set-up takes the files away from the next one.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { statOf } = createRequire(import.meta.url)('../../bin/set-up-sign.cjs');

/** The last is of a terminal, too (Ctrl-\\), which reaches none of the groups. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
/** What has not ended by then is killed. A script that another one runs gives half of what that has, so that it has killed its own before it is killed itself. */
const GIVEN_MS = Number(process.env.SCRIPT_GIVEN_MS ?? 10_000);
/** As long is given behind a second signal. */
const HURRIED_MS = Math.min(1000, GIVEN_MS / 10);
const TOLD_AFTER_MS = 1000;
const LOOK_AGAIN_MS = 50;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
/** @type {((pids: number[]) => void) | undefined} */
let listener;
let isEnding = false;
/** A script that another one runs hears of each signal once. */
let mayBeHurried = process.env.SCRIPT_GIVEN_MS !== undefined;
let hurriedUntilMs = Infinity;

/** What is called with the numbers of the programs that run, now and whenever these change; undefined for none. */
export function onPrograms(listen) {
  listener = listen;
  tell();
}

const tell = () => listener?.([...running].map(({ pid }) => pid));

/**
 * Starts a program as `spawn` does, as the leader of its own group. While one runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT end them all, and this process behind them, with the
 * status that a shell has for the signal. Once it has said that it waits for them, another signal has them killed soon.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 */
export function startProgram(command, args, options) {
  const env = { ...(options.env ?? process.env), SCRIPT_GIVEN_MS: String(GIVEN_MS / 2) };
  const child = spawn(command, args, { ...options, env, detached: true });
  // One that cannot be started has no number.
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

/** True when the programs are being ended: how they end is told to nobody. */
export const programsAreEnded = () => isEnding;

async function endAll(signal) {
  if (isEnding) {
    // npm passes on what a terminal has sent to both.
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

/** Ends a program with whatever it has started. Resolves when nothing of it is at work any more. */
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

/** False also where all of it has ended and nobody has asked how: in many containers nobody ever does. */
export function isAtWork(group) {
  if (!signalGroup(group, 0)) return false;
  const members = membersOf(group);
  return members === undefined || members.length > 0;
}

/** True where something of the group is at work in the folder or below it. */
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

/** The numbers of what has not ended, as texts; undefined where the system does not tell in this way. */
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
