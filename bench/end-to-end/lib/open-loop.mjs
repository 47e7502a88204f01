/**
 * Load at a given rate whether answers come or not (an open loop): requests fall due at random moments (a Poisson process,
 * seeded), go out over whichever connection is free, and a latency counts from the moment a request was due. So a service
 * that stalls is charged for all that would have come meanwhile, which a closed loop leaves out.
 *
 * A process of its own: `runOpenLoop` starts this file.
 */
import { fork } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { seededRandom } from './random.mjs';
import { quantile } from './report.mjs';

const CONNECTIONS = 64;
const ANSWER_TIMEOUT_MS = 10_000;
const HEAD_END = Buffer.from('\r\n\r\n');

/** Resolves with requests/s, failed ones, and p50, p99, p99.9 and the longest in milliseconds. */
export async function runOpenLoop({ address, key, paths, seconds, ratePerSecond, seed = 1 }) {
  const child = fork(fileURLToPath(import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.send({ address, key, paths, seconds, ratePerSecond, seed });
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`the load generator ended with exit status ${code}`)));
  });
}

/** One keep-alive connection with at most one request under way. */
class Connection {
  #socket;
  #received = Buffer.alloc(0);
  #answered;

  constructor({ hostname, port }) {
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('data', (chunk) => this.#receive(chunk));
    const lost = () => this.#finish(false);
    this.#socket.on('error', lost).on('close', lost);
  }

  send(bytes, answered) {
    this.#answered = answered;
    this.#socket.write(bytes);
  }

  close() {
    this.#socket.destroy();
  }

  #receive(chunk) {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < headEnd + HEAD_END.length + length) return;
    this.#received = Buffer.alloc(0);
    this.#finish(head.startsWith('HTTP/1.1 200'));
  }

  #finish(succeeded) {
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(succeeded);
  }
}

async function generate({ address, key, paths, seconds, ratePerSecond, seed }) {
  const url = new URL(address);
  const random = seededRandom(seed);
  const requests = paths.map((path) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nhost: ${url.host}\r\nx-api-key: ${key}\r\n\r\n`, 'latin1'),
  );
  const free = Array.from({ length: CONNECTIONS }, () => new Connection(url));
  const waiting = [];
  const times = [];
  let failed = 0;
  let underWay = 0;

  const start = (request) => {
    const connection = free.pop();
    underWay += 1;
    connection.send(request.bytes, (succeeded) => {
      underWay -= 1;
      if (succeeded) times.push(performance.now() - request.dueMs);
      else failed += 1;
      free.push(connection);
      if (waiting.length > 0) start(waiting.shift());
    });
  };

  const beginMs = performance.now() + 100;
  let dueMs = beginMs;
  let next = 0;
  await new Promise((resolve) => {
    const tick = () => {
      const nowMs = performance.now();
      for (
        ;
        dueMs <= nowMs && dueMs < beginMs + seconds * 1000;
        dueMs += (-Math.log(1 - random()) / ratePerSecond) * 1000
      ) {
        const request = { dueMs, bytes: requests[next++ % requests.length] };
        if (free.length > 0) start(request);
        else waiting.push(request);
      }
      const isOver = dueMs >= beginMs + seconds * 1000;
      if (isOver && ((underWay === 0 && waiting.length === 0) || nowMs > dueMs + ANSWER_TIMEOUT_MS)) resolve();
      else setTimeout(tick, 1);
    };
    tick();
  });
  failed += underWay + waiting.length;
  for (const connection of free) connection.close();
  return {
    requestsPerSecond: times.length / seconds,
    failed,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    p999: quantile(times, 0.999),
    max: quantile(times, 1),
  };
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once('message', (task) => {
    void generate(task).then((result) => process.send(result, () => process.exit(0)));
  });
}
