/** What the set-up and test scripts share: running a program, printing one line per step, failing with one sentence. */
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A failure that is told in one sentence (plus, where it helps, what the failed program printed). */
export class StepError extends Error {
  constructor(sentence, output = '') {
    super(sentence);
    this.output = output;
  }
}

/** Longer than what is done in most. */
const LONG_STEP_MS = 10_000;

export function formatSeconds(milliseconds) {
  return milliseconds < 950 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/**
 * Prints `name … done in 1.2 s`. On a terminal the line appears when the step begins, so that a long step is seen
 * to be at work; elsewhere it is written when it is complete, and once before if it is long.
 */
export async function step(name, work) {
  const startedMs = performance.now();
  const isTerminal = process.stdout.isTTY === true;
  if (isTerminal) process.stdout.write(`${name} …`);
  // Elsewhere whoever looks at a log that stands still wonders whether anything goes on.
  const patience = setTimeout(() => {
    if (!isTerminal) process.stdout.write(`${name} …\n`);
  }, LONG_STEP_MS);
  try {
    const note = await work();
    const took = formatSeconds(performance.now() - startedMs);
    const line = typeof note === 'string' ? `${name}: ${note} (${took})` : `${name} (${took})`;
    process.stdout.write(isTerminal ? `\r\u001b[K${line}\n` : `${line}\n`);
  } catch (error) {
    if (isTerminal) process.stdout.write('\n');
    throw error;
  } finally {
    clearTimeout(patience);
  }
}

/** @typedef {{ cwd?: string; env?: NodeJS.ProcessEnv; inherit?: boolean; input?: string | Uint8Array }} RunOptions */

/**
 * Runs a program to its end and returns `{ code, output }`; standard output and standard error are collected as one text,
 * or passed through when `inherit` is set. Never rejects: a program that cannot be started has code 127.
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {Promise<{ code: number; output: string }>}
 */
export function run(command, args, { cwd, env, inherit = false, input } = /** @type {RunOptions} */ ({})) {
  return new Promise((resolve) => {
    const stdin = input === undefined ? 'ignore' : 'pipe';
    const child = spawn(command, args, {
      cwd,
      env: env ?? process.env,
      stdio: inherit ? [stdin, 'inherit', 'inherit'] : [stdin, 'pipe', 'pipe'],
    });
    const chunks = [];
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));
    child.on('error', (error) => resolve({ code: 127, output: String(error.message) }));
    child.on('close', (code, signal) => {
      const output = Buffer.concat(chunks).toString('utf8');
      resolve({ code: code ?? 1, output: signal === null ? output : `${output}\nended by ${signal}` });
    });
    if (input !== undefined) {
      // A compiler that stops before it has read everything is its own report; the broken pipe adds nothing.
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
    }
  });
}

/** The end of a long output: what a person wants to see of a failed build. */
export function lastLines(text, count) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** True in the module that was started as the program. */
export function isProgram(moduleUrl) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(moduleUrl);
}
