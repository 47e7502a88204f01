/** The real logger in a child process whose standard error fails in various ways. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/support/eventually.js';
import { LogOutput } from './log-output.js';

const LOGGER = new URL('../../dist/src/platform/logger.js', import.meta.url).href;
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gannet-log-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** So many turns that the lines exceed what may wait to be written. */
const TURNS = 200;

/**
 * Logs in every turn until standard input says stop; then prints what was lost and ends. It also prints when it has
 * started, and when it has logged in so many turns; with `isBounded`, it logs in no further turns.
 */
const loggingScript = (linesATurn: number, isBounded: boolean) => `
  import { createLogger } from ${JSON.stringify(LOGGER)};
  const log = createLogger({ log: { level: 'info' } });
  let line = 0;
  let turn = 0;
  const timer = setInterval(() => { if (++turn === ${TURNS}) process.stdout.write('turned'); if (${isBounded} && turn > ${TURNS}) return; for (let each = 0; each < ${linesATurn}; ++each) log.info({ line: ++line }, 'x'.repeat(200)); }, 1);
  process.stdin.once('data', async () => {
    clearInterval(timer);
    await log.drain();
    process.stdout.write(JSON.stringify({ lines: line, dropped: log.droppedLines() }));
    process.stdin.destroy();
  });
  process.stdout.write('ready');
`;

type StandardError = number | 'pipe';

function startLogging(standardError: StandardError, linesATurn = 100, isBounded = false): ChildProcess {
  return spawn(process.execPath, ['--input-type=module', '--eval', loggingScript(linesATurn, isBounded)], {
    cwd: PACKAGE,
    stdio: ['pipe', 'pipe', standardError],
  });
}

/**
 * Lets the child log for its turns, stops it, and resolves with what it prints at the end. `atBegin` is called when it
 * has started.
 */
async function runAndStop(child: ChildProcess, atBegin: () => void = () => undefined) {
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const hasSaid = (word: string) =>
    eventually(
      () => Promise.resolve(said),
      (all) => all.includes(word),
    );
  await hasSaid('ready');
  atBegin();
  await hasSaid('turned');
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stdin?.write('stop');
  expect(await ended).toBe(0);
  return JSON.parse(said.replace(/^readyturned/, '')) as { lines: number; dropped: number };
}

describe('the log', () => {
  it('is dropped and counted, without blocking, if every write fails', async () => {
    // Every write to this file fails for lack of space.
    const full = openSync('/dev/full', 'w');
    const { lines, dropped } = await runAndStop(startLogging(full));
    closeSync(full);
    expect(lines).toBeGreaterThan(0);
    expect(dropped).toBe(lines);
  });

  it('is dropped and counted after the reader of its pipe has gone', async () => {
    const child = startLogging('pipe');
    const { lines, dropped } = await runAndStop(child, () => child.stderr?.destroy());
    expect(dropped).toBeGreaterThan(0);
    expect(dropped).toBeLessThanOrEqual(lines);
  });

  it('neither blocks nor grows if its pipe is not read, and the process can end', async () => {
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    // Opened for reading and writing, the pipe needs no other side, and it is not read.
    const held = openSync(fifo, 'r+');
    const { dropped } = await runAndStop(startLogging(held));
    closeSync(held);
    expect(dropped).toBeGreaterThan(0);
  });

  it('neither blocks nor grows if its socket is not read', async () => {
    const child = startLogging('pipe');
    child.stderr?.pause();
    const { dropped } = await runAndStop(child);
    expect(dropped).toBeGreaterThan(0);
  });

  it('does not delay process.exit() if its pipe is not read', () => {
    const fifo = join(folder, 'fifo-exit');
    execFileSync('mkfifo', [fifo]);
    const held = openSync(fifo, 'r+');
    const script = `
      import { createLogger } from ${JSON.stringify(LOGGER)};
      const log = createLogger({ log: { level: 'info' } });
      for (let line = 0; line < 5000; ++line) log.info('x'.repeat(200));
      process.exit(7);
    `;
    const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: PACKAGE,
      stdio: ['ignore', 'ignore', held],
      timeout: 200_000,
    });
    closeSync(held);
    expect(status).toBe(7);
  });

  it('has every line in order, in a file and in a pipe with a slow reader', async () => {
    const path = join(folder, 'log');
    const file = openSync(path, 'a');
    // The lines are few enough that all may wait, however long this process takes to read them.
    const toFile = await runAndStop(startLogging(file, 10, true));
    closeSync(file);
    const child = startLogging('pipe', 10, true);
    let read = '';
    child.stderr?.pause();
    const toPipe = await runAndStop(child, () => {
      child.stderr?.on('data', (chunk: Buffer) => (read += chunk.toString())).resume();
    });
    for (const [text, { lines, dropped }] of [
      [readFileSync(path, 'utf8'), toFile],
      [read, toPipe],
    ] as const) {
      expect(dropped).toBe(0);
      const numbers = text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { line: number }).line);
      expect(numbers).toEqual(Array.from({ length: lines }, (_, index) => index + 1));
    }
  });
});

describe('a line that a full pipe accepted in part', () => {
  /** The line is longer than a pipe, but the rest of it fits. */
  const LONG = `${'x'.repeat(70_000)}\n`;
  let reader: number;
  let output: LogOutput;
  const openReader = () => openSync(join(folder, 'fifo-torn'), constants.O_RDONLY | constants.O_NONBLOCK);
  const read = () => {
    const bytes = Buffer.alloc(2 * LONG.length);
    return bytes.toString('latin1', 0, readSync(reader, bytes));
  };

  beforeEach(() => {
    execFileSync('mkfifo', [join(folder, 'fifo-torn')]);
    reader = openReader();
    const writer = openSync(join(folder, 'fifo-torn'), 'w');
    output = new LogOutput(writer);
    closeSync(writer);
    output.write(LONG);
  });
  afterEach(() => {
    output.close();
    closeSync(reader);
    rmSync(join(folder, 'fifo-torn'));
  });

  it('is followed by the next one, without an empty line between them, when everything is flushed', () => {
    const begin = read();
    output.write('next\n');
    output.flushSync();
    expect(begin + read()).toBe(`${LONG}next\n`);
    expect(output.droppedLines).toBe(0);
  });

  it('is ended before the next line if its rest was dropped', () => {
    output.write('waits\n');
    closeSync(reader);
    output.flushSync();
    expect(output.droppedLines).toBe(2);
    reader = openReader();
    const begin = read();
    output.write('next\n');
    expect(begin + read()).toMatch(/^x+\nnext\n$/);
    output.write('last\n');
    expect(read()).toBe('last\n');
  });
});

it('An error is logged with its type and message, and with its stack unless that is switched off', () => {
  const script = (options: string) => `
    import { createLogger } from ${JSON.stringify(LOGGER)};
    const log = createLogger({ log: { level: 'error' } }, ${options});
    log.error({ err: new TypeError('broken') }, 'It failed');
    await log.drain();`;
  const told = (options: string) => {
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script(options)], {
      cwd: PACKAGE,
    });
    return JSON.parse(stderr.toString()) as unknown;
  };
  const err = { type: 'TypeError', message: 'broken' };
  expect(told('{}')).toMatchObject({ err: { ...err, stack: expect.stringContaining('at ') as unknown } });
  expect(told('{ stacks: false }')).toMatchObject({ err, msg: 'It failed' });
  expect(JSON.stringify(told('{ stacks: false }'))).not.toContain('stack');
});
