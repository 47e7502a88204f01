/**
 * An engine in a process of its own, spoken to in lines:
 *
 *   time <command> <view> <first> <end>    runs the queries [first, end): a line of nanoseconds each, then `done`
 *   show <command> <view> <first> <end>    the same: a line `count document:score …` each (count −1: not asked for)
 *   index start - 0 0                      begins to index the corpus into another index, in a second thread
 *   index stop - 0 1                       ends that: a line of records a second
 *
 * Commands are those of search-benchmark-game: COUNT, TOP_10, TOP_100, TOP_10_COUNT, TOP_100_COUNT. Views: `all`, and
 * `deleted`, where every tenth record is. An engine indexes the corpus when it starts and then says `ready`, a tab, and
 * what it is.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const folder = import.meta.dirname;

/** The command line of an engine, built where needed; `{ missing }` with the reason where this machine cannot. */
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
   * Engines take turns, so their searching threads can share one processor: on a shared machine one may be slower than the other for
   * minutes. Those that compile Java or collect its garbage have other names, and stay where they like. Does nothing
   * where the system has no `taskset`.
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

  /** Resolves when the engine has its index. */
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

  /** Nanoseconds of each query in the range. */
  async time(command, view, range) {
    return (await this.#ask('time', command, view, range)).map(Number);
  }

  /** Count (−1 where the command does not count) and hits of each query in the range. */
  async show(command, view, range) {
    return (await this.#ask('show', command, view, range)).map((line) => {
      const [count, ...hits] = line.split(' ');
      return { count: Number(count), hits: hits.map((hit) => hit.split(':').map(Number)) };
    });
  }

  /** Until `stopIndexing`, the engine indexes the corpus again and again in a second thread. */
  async startIndexing() {
    await this.#ask('index', 'start', '-', { first: 0, end: 0 });
  }

  /** Records that were indexed a second. */
  async stopIndexing() {
    return Number((await this.#ask('index', 'stop', '-', { first: 0, end: 1 }))[0]);
  }

  stop() {
    this.#process.stdin.end();
  }
}
