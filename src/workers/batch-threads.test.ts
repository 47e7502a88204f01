/** The thread's side runs compiled (`npm run build`), in programs that are written here. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Piscina } from 'piscina';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { packageRoot } from '../platform/paths.js';
import { BatchThreads } from './batch-threads.js';

type Message = { readonly say: number } | { readonly do: 'throw' | 'exit' | 'hold'; readonly latch?: Int32Array };

const LOOP = pathToFileURL(join(packageRoot(), 'dist', 'src', 'workers', 'batch-loop.js')).href;
const PROGRAM = `
  import { threadId } from 'node:worker_threads';
  import { answerBatches } from ${JSON.stringify(LOOP)};
  let answered = 0;
  function answer(message) {
    if (message.do === 'throw') throw new RangeError('cannot');
    if (message.do === 'exit') process.exit(1);
    if (message.do === 'hold') Atomics.wait(message.latch, 0, 0);
    answered += 1;
    return Float64Array.of(message.say, threadId, answered).buffer;
  }
  export default (end) => answerBatches(end, answer);
`;

describe('BatchThreads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-threads-'));
  const program = join(folder, 'answer.mjs');
  writeFileSync(program, PROGRAM);
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  function started(threads: number, filename = program) {
    const piscina = new Piscina({
      filename,
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: 1,
      maxQueue: threads,
    });
    piscina.on('error', () => undefined);
    const deaths: unknown[] = [];
    const pool = new BatchThreads<Message>({ piscina, threads, start: (end) => end, onDeath: (e) => deaths.push(e) });
    closers.push(async () => {
      await pool.close();
      await piscina.close();
    });
    const run = async (message: Message) => [...new Float64Array(await pool.run(message))];
    return { pool, piscina, deaths, run };
  }

  test('gives each message its own answer, even if many more come than a thread takes in a turn', async () => {
    const { run } = started(2);
    const numbers = Array.from({ length: 1000 }, (_, number) => number);
    const answers = await Promise.all(numbers.map((say) => run({ say })));
    expect(answers.map(([said]) => said)).toEqual(numbers);
    expect(new Set(answers.map(([, thread]) => thread)).size).toBe(2);
  });

  test('sends a message to the thread with the least to do', async () => {
    const { pool, run } = started(2);
    const latch = new Int32Array(new SharedArrayBuffer(4));
    const held = pool.run({ do: 'hold', latch });
    const free = [await run({ say: 1 }), await run({ say: 2 }), await run({ say: 3 })];
    Atomics.store(latch, 0, 1);
    Atomics.notify(latch, 0);
    const [, holder] = new Float64Array(await held);
    expect(free.map(([, thread]) => thread)).not.toContain(holder);
  });

  test('returns the error of a message to its sender, and keeps the thread', async () => {
    const { run, deaths } = started(1);
    const [, before] = await run({ say: 0 });
    await expect(run({ do: 'throw' })).rejects.toThrow(new RangeError('cannot'));
    expect((await run({ say: 1 }))[1]).toBe(before);
    expect(deaths).toEqual([]);
  });

  test('fails what a dying thread has in progress, and replaces the thread', async () => {
    const { run, deaths } = started(1);
    const [, before] = await run({ say: 0 });
    const outcomes = await Promise.allSettled([run({ say: 1 }), run({ do: 'exit' }), run({ say: 2 })]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(deaths).toHaveLength(1);
    const [said, after, count] = await run({ say: 3 });
    expect([said, count]).toEqual([3, 1]);
    expect(after).not.toBe(before);
  });

  test('fails what is sent to a thread that cannot start, trying again each time', async () => {
    const broken = join(folder, 'broken.mjs');
    writeFileSync(broken, "throw new Error('never');\n");
    const { run, deaths } = started(1, broken);
    for (const say of [1, 2, 3]) await expect(run({ say })).rejects.toThrow('never');
    expect(deaths).toHaveLength(3);
  });

  test('finishes what was sent when it is closed, and leaves no thread running', async () => {
    const { pool, piscina, run } = started(2);
    const sent = [1, 2, 3, 4].map((say) => run({ say }));
    await pool.close();
    expect((await Promise.all(sent)).map(([said]) => said)).toEqual([1, 2, 3, 4]);
    // These are the tasks for which the threads were started.
    expect(piscina.completed).toBe(2);
  });
});
