import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

const compiled = new URL('../../dist/src/platform/garbage-collection.js', import.meta.url).href;

/**
 * Prints how often a thread collects its whole heap while it replaces its live objects a few times. Tuning happens
 * when the thread has started.
 */
const COLLECTING = `
const { Worker } = await import('node:worker_threads');
const { tuneGarbageCollection } = await import(process.argv[1]);
const thread = () => {
  const { parentPort } = require('node:worker_threads');
  const { PerformanceObserver } = require('node:perf_hooks');
  let count = 0;
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) if (detail.kind === 4) count += 1;
  }).observe({ entryTypes: ['gc'] });
  const made = (at) => ({ numbers: new Array(60).fill(at + 0.5) });
  const living = Array.from({ length: 20000 }, (_, at) => made(at));
  parentPort.once('message', async () => {
    count = 0;
    for (let round = 0; round < 40; round += 1) {
      for (let at = 0; at < living.length; at += 1) living[(at * 7 + round) % living.length] = made(at);
      await new Promise((resolve) => setImmediate(resolve));
    }
    parentPort.postMessage(count);
  });
  parentPort.postMessage('up');
};
const worker = new Worker('(' + thread + ')()', { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 4 } });
worker.on('message', (message) => {
  if (message !== 'up') return console.log(message);
  if (process.argv[2] === 'tuned') tuneGarbageCollection({ heapGrowthPercent: 300 });
  worker.postMessage('go');
});`;

/**
 * Prints the version tag of V8's flags, by which compiled code is accepted: before the tuning, after it, in a thread
 * started then, when it has started, and after one ended silently.
 */
const STARTING = `
const { once } = await import('node:events');
const { cachedDataVersionTag } = await import('node:v8');
const { Worker } = await import('node:worker_threads');
const { startThreads, tuneGarbageCollection } = await import(process.argv[1]);
const program = 'require("node:worker_threads").parentPort.postMessage(require("node:v8").cachedDataVersionTag())';
const started = (text) => startThreads(() => new Worker(text, { eval: true, execArgv: [] }), (thread) => [thread]);
const tags = { before: cachedDataVersionTag() };
tuneGarbageCollection({ heapGrowthPercent: 300 });
tags.tuned = cachedDataVersionTag();
const thread = started(program);
[tags.inThread] = await once(thread, 'message');
tags.up = cachedDataVersionTag();
await once(started(''), 'exit');
tags.ended = cachedDataVersionTag();
console.log(JSON.stringify(tags));`;

/**
 * Prints the same with a thread that neither posts a message nor ends: while it may be starting, after the time limit,
 * and in a thread started when it was ended.
 */
const HANGING = `
const { once } = await import('node:events');
const { mock } = await import('node:test');
const { cachedDataVersionTag } = await import('node:v8');
const { Worker } = await import('node:worker_threads');
const { startThreads, STARTING_MS_MAX, tuneGarbageCollection } = await import(process.argv[1]);
mock.timers.enable({ apis: ['setTimeout'] });
const started = (text) => startThreads(() => new Worker(text, { eval: true, execArgv: [] }), (thread) => [thread]);
const tags = { before: cachedDataVersionTag() };
tuneGarbageCollection({ heapGrowthPercent: 300 });
tags.tuned = cachedDataVersionTag();
const hanging = started('setInterval(() => {}, 1e9)');
mock.timers.tick(STARTING_MS_MAX - 1);
tags.starting = cachedDataVersionTag();
mock.timers.tick(1);
tags.givenUp = cachedDataVersionTag();
await hanging.terminate();
const next = started('require("node:worker_threads").parentPort.postMessage(require("node:v8").cachedDataVersionTag())');
[tags.inNext] = await once(next, 'message');
tags.nextUp = cachedDataVersionTag();
console.log(JSON.stringify(tags));`;

/** Returns what V8 writes to standard error, for example about an unknown flag. */
async function complaints(program: string): Promise<string> {
  const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', program, compiled]);
  return stderr;
}

describe('tuneGarbageCollection', () => {
  it('only sets flags that V8 of this Node.js knows', async () => {
    const program =
      'const { tuneGarbageCollection } = await import(process.argv[1]); tuneGarbageCollection({ heapGrowthPercent: 300 });';
    expect(await complaints(program)).toBe('');
    const unknown = "import { setFlagsFromString } from 'node:v8'; setFlagsFromString('--no-such-flag');";
    expect(await complaints(unknown)).toContain('no-such-flag');
  });

  it('affects a thread that is already running', { timeout: 120_000 }, async () => {
    const collections = async (tuning: string): Promise<number> => {
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', COLLECTING, compiled, tuning]);
      return Number(stdout);
    };
    const untuned = await collections('');
    expect(untuned).toBeGreaterThan(8);
    // The heap grows to four times the live objects instead of by half.
    expect(await collections('tuned')).toBeLessThan(untuned / 2);
  });

  it('is delayed while a thread starts, which accepts compiled code by the flags from before', async () => {
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', STARTING, compiled]);
    const { before, tuned, inThread, up, ended } = JSON.parse(stdout) as Record<string, number>;
    expect(tuned).not.toBe(before);
    expect(inThread).toBe(before);
    expect(up).toBe(tuned);
    expect(ended).toBe(tuned);
  });

  it('is not delayed for ever by a thread that neither posts a message nor ends', async () => {
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', HANGING, compiled]);
    const { before, tuned, starting, givenUp, inNext, nextUp } = JSON.parse(stdout) as Record<string, number>;
    expect(starting).toBe(before);
    expect(givenUp).toBe(tuned);
    expect(inNext).toBe(before);
    expect(nextUp).toBe(tuned);
  });
});
