/**
 * Runs an engine in a separate process, which takes commands as lines:
 *
 *   time <command> <view> <first> <end>    runs the queries [first, end): answers a line of nanoseconds each, then `done`
 *   show <command> <view> <first> <end>    the same: answers a line `count document:score …` each (count −1: not counted)
 *   index start - 0 0                      starts to index the corpus into another index, in a second thread
 *   index stop - 0 1                       ends that: answers a line of records per second
 *
 * Commands are those of search-benchmark-game: COUNT, TOP_10, TOP_100, TOP_10_COUNT, TOP_100_COUNT. Views are `all`, and
 * `deleted`, where every tenth record is deleted. An engine indexes the corpus when it starts and then prints `ready`, a tab, and
 * its description.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const folder = import.meta.dirname;

/** Returns the command line of an engine, built if needed, or `{ missing }` with the reason if this machine cannot run it. */
export function buildEngine(name, work) {
  try {
    const command = execFileSync('sh', [join(folder, 'build.sh'), name, work], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return { command: command.trim().split(/\s+/) };
  } catch (error) {
    if (error.status !== 3) throw new Error(`${name} was not built: ${error.stderr}`, { cause: error });
    return { missing: error.stderr.trim().split('\n').at(-1) };
  }
}

const bind = (args) => spawnSync('taskset', args, { stdio: 'ignore' });

export class EngineProcess {
  #process;
  #lines;

  constructor(name, command, { corpus, queries, work }) {
    this.name = name;
    const folder = join(work, 'indexes', name);
    mkdirSync(folder, { recursive: true });
    this.#process = spawn(command[0], [...command.slice(1), corpus, queries, folder], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /**
   * Binds the searching threads to one processor. Engines take turns, so they can share it, and on a shared machine one processor may be slower
   * than another for minutes. Threads that compile Java or collect its garbage have other names and are not bound. Does nothing
   * if the system has no `taskset`.
   */
  useOneProcessor() {
    const tasks = `/proc/${this.#process.pid}/task`;
    if (!existsSync(tasks)) return;
    const nameOf = (task) => readFileSync(join(tasks, task, 'comm'), 'utf8');
    const name = nameOf(String(this.#process.pid));
    for (const task of readdirSync(tasks).filter((each) => nameOf(each) === name)) {
      bind(['--cpu-list', '--pid', String(os.cpus().length - 1), task]);
    }
  }

  useAllProcessors() {
    bind(['--all-tasks', '--cpu-list', '--pid', `0-${os.cpus().length - 1}`, String(this.#process.pid)]);
  }

  async #nextLine() {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`${this.name} has ended`);
    return value;
  }

  /** Resolves when the engine has built its index. */
  async start() {
    const [word, description] = (await this.#nextLine()).split('\t');
    if (word !== 'ready') throw new Error(`${this.name} said ${word}`);
    this.description = description;
  }

  async #ask(mode, command, view, { first, end }) {
    this.#process.stdin.write(`${mode} ${command} ${view} ${first} ${end}\n`);
    const lines = [];
    for (let line = await this.#nextLine(); line !== 'done'; line = await this.#nextLine()) lines.push(line);
    if (lines.length !== end - first) throw new Error(`${this.name} answered ${lines.length} queries`);
    return lines;
  }

  /** Returns the nanoseconds of each query in the range. */
  async time(command, view, range) {
    return (await this.#ask('time', command, view, range)).map(Number);
  }

  /** Returns count (−1 if the command does not count) and hits of each query in the range. */
  async show(command, view, range) {
    return (await this.#ask('show', command, view, range)).map((line) => {
      const [count, ...hits] = line.split(' ');
      return { count: Number(count), hits: hits.map((hit) => hit.split(':').map(Number)) };
    });
  }

  /** Has the engine index the corpus again and again in a second thread until `stopIndexing`. */
  async startIndexing() {
    await this.#ask('index', 'start', '-', { first: 0, end: 0 });
  }

  /** Ends indexing. Returns the records indexed per second. */
  async stopIndexing() {
    return Number((await this.#ask('index', 'stop', '-', { first: 0, end: 1 }))[0]);
  }

  stop() {
    this.#process.stdin.end();
  }
}
