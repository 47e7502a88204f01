/**
 * Runs a command and stops random processes of its tree (SIGSTOP) for random times, as a busy machine does. So it reveals tests that
 * assume an order of concurrent processes. Linux only.
 *
 *   node scripts/lib/halts.mjs [--seed 7] npx vitest run test/api/log.test.ts
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BETWEEN_MS_MAX = 200;
/** Most halts are short; one in four is as long as those of a machine that swaps. */
const SHORT_MS_MAX = 300;
const LONG_MS_MAX = 2500;
const LONG_SHARE = 1 / 4;
const ALL_SHARE = 1 / 8;

/** Returns a generator of numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a process and its descendants, without stopped ones, which a test has stopped and will continue. */
export function treeOf(root) {
  const children = new Map();
  const stopped = new Set();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [state, parent] = readFileSync(`/proc/${name}/stat`, 'latin1')
        .replace(/^.*\) /su, '')
        .split(' ');
      if (state === 'T') stopped.add(Number(name));
      children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(name)]);
    } catch {
      // The process has ended in the meantime.
    }
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found.filter((pid) => !stopped.has(pid));
}

function signal(pids, name) {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // The process has ended in the meantime.
    }
  }
}

/** Stops and continues processes of the tree of `root` until `hasEnded` returns true. Resolves with the number of halts. */
export async function halt(root, { seed, hasEnded }) {
  const random = randomNumbers(seed);
  let halts = 0;
  while (!hasEnded()) {
    await pause(random() * BETWEEN_MS_MAX);
    const tree = treeOf(root);
    const one = tree[Math.floor(random() * tree.length)] ?? root;
    const halted = random() < ALL_SHARE ? treeOf(one) : [one];
    signal(halted, 'SIGSTOP');
    await pause(random() * (random() < LONG_SHARE ? LONG_MS_MAX : SHORT_MS_MAX));
    signal(halted, 'SIGCONT');
    halts += 1;
  }
  return halts;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2);
  const seed = given[0] === '--seed' ? Number(given.splice(0, 2)[1]) : Math.floor(Math.random() * 2 ** 31);
  const child = spawn(given[0], given.slice(1), { stdio: 'inherit' });
  let code;
  child.once('close', (status) => (code = status ?? 1));
  const halts = await halt(child.pid, { seed, hasEnded: () => code !== undefined });
  process.stdout.write(`Halted ${halts} times (seed ${seed}).\n`);
  process.exitCode = code;
}
