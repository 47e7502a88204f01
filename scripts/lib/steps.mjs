/** Helpers of the set-up and test scripts: run a program, print one line per step, fail with one sentence. */
import { realpathSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { programsAreEnded, startProgram } from './children.mjs';

/** A failure with a message of one sentence, and the output of the failed program if it helps. */
export class StepError extends Error {
  constructor(sentence, output = '') {
    super(sentence);
    this.output = output;
  }
}

/** Time after which a step counts as long. Most are shorter. */
const LONG_STEP_MS = 10_000;
/** Intervals of the progress of a long step: on a terminal, where a line can be overwritten, and elsewhere. */
const TOLD_EVERY_MS = { terminal: 1000, log: 30_000 };

export function formatSeconds(milliseconds) {
  return milliseconds < 950 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** @typedef {{ write(text: string): unknown; isTTY?: boolean }} StepOutput */

/**
 * Runs the work and then prints `name (1.2 s)`. On a terminal the line is there from the beginning, with the elapsed time. Elsewhere
 * it is written at the end, and a long step also writes progress lines, as a silent step looks stuck. The work gets a function that
 * takes its progress (`12 of 183 files`).
 * @param {string} name
 * @param {(tell: (howFar: string) => void) => unknown} work
 * @param {{ output?: StepOutput; longMs?: number; everyMs?: number }} options
 */
export async function step(name, work, { output = process.stdout, longMs = LONG_STEP_MS, everyMs } = {}) {
  const startedMs = performance.now();
  const isTerminal = output.isTTY === true;
  let howFar = '';
  const soFar = () => {
    const seconds = Math.floor((performance.now() - startedMs) / 1000);
    const told = [howFar, ...(seconds === 0 ? [] : [`${seconds} s`])].filter((part) => part !== '').join(', ');
    return told === '' ? `${name} …` : `${name} … ${told}`;
  };
  const tell = () => {
    output.write(isTerminal ? `\r\u001b[K${soFar()}` : `${soFar()}\n`);
  };
  if (isTerminal) tell();
  let again;
  const first = setTimeout(
    () => {
      tell();
      again = setInterval(tell, everyMs ?? TOLD_EVERY_MS[isTerminal ? 'terminal' : 'log']);
    },
    isTerminal ? Math.min(longMs, TOLD_EVERY_MS.terminal) : longMs,
  );
  try {
    const note = await work((text) => {
      howFar = text;
    });
    const took = formatSeconds(performance.now() - startedMs);
    const line = typeof note === 'string' ? `${name}: ${note} (${took})` : `${name} (${took})`;
    output.write(isTerminal ? `\r\u001b[K${line}\n` : `${line}\n`);
  } catch (error) {
    if (isTerminal) output.write('\n');
    throw error;
  } finally {
    clearTimeout(first);
    clearInterval(again);
  }
}

/** @typedef {{ cwd?: string; env?: NodeJS.ProcessEnv; inherit?: boolean; input?: string | Uint8Array; onLine?: (line: string) => void }} RunOptions */

/**
 * Runs a program to its end and returns `{ code, output }`. Standard output and standard error are collected as one text,
 * or passed through with `inherit`. `onLine` gets each line of standard output as it comes. Never rejects: a program that cannot be started has code 127.
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {Promise<{ code: number; output: string }>}
 */
export function run(command, args, { cwd, env, inherit = false, input, onLine } = /** @type {RunOptions} */ ({})) {
  return new Promise((resolve) => {
    const stdin = input === undefined ? 'ignore' : 'pipe';
    const child = startProgram(command, args, {
      cwd,
      env: env ?? process.env,
      stdio: inherit ? [stdin, 'inherit', 'inherit'] : [stdin, 'pipe', 'pipe'],
    });
    const chunks = [];
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));
    if (onLine !== undefined && child.stdout !== null) createInterface({ input: child.stdout }).on('line', onLine);
    child.on('error', (error) => resolve({ code: 127, output: String(error.message) }));
    child.on('close', (code, signal) => {
      // The program was ended on purpose, and this process ends as well, so nothing is reported.
      if (programsAreEnded()) return;
      const output = Buffer.concat(chunks).toString('utf8');
      resolve({ code: code ?? 1, output: signal === null ? output : `${output}\nended by ${signal}` });
    });
    if (input !== undefined) {
      // A program that ends before it has read its input reports that itself, so a broken pipe is ignored.
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
    }
  });
}

/** Returns the end of a long output, which shows why a build failed. */
export function lastLines(text, count) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** True if the module was started as the program. */
export function isProgram(moduleUrl) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(moduleUrl);
}
