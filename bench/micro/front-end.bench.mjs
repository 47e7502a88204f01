/**
 * Measures what a search costs on the main thread besides the worker: routing, key, permission, scope, rate limit, query string,
 * validation, answer, log line and metrics; and what is left of it if the answer comes from the cache. The pool
 * answers at once with 5 kB.
 *
 *   npm run build && node bench/micro/front-end.bench.mjs
 */
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { cpus, devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { Bench } from 'tinybench';
import { openAccess, RateLimiter } from '#src/access/index.js';
import { ANALYTICS, createAnalytics } from '#src/analytics/index.js';
import { openCatalog } from '#src/catalog/index.js';
import { createRequestServer } from '#src/http/index.js';
import { AnswerCache, createDispatcher, operations } from '#src/operations/index.js';
import { createValidator } from '#src/operations/dispatch/validation.js';
import { loadConfig } from '#src/platform/config.js';
import { GatheredOutput } from '#src/platform/gathered-output.js';
import { createRequestMemory, memoryBudget, openEnvironment, systemClock } from '#src/platform/index.js';
import { LogOutput } from '#src/platform/log-output.js';
import { createMetrics } from '#src/platform/metrics.js';
import { TAKES_ALL } from '../analytics/takes-all.mjs';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { standIn } from '../end-to-end/lib/stand-in.mjs';
import { latencyOf } from './lib/latency.mjs';
import { definitionOf } from './lib/searching.mjs';

/**
 * @import { ListIndex, ListIndexes } from '#src/index/index.js'
 * @import { IncomingRequest } from '#src/http/exchange.js'
 * @import { SearchPool } from '#src/operations/dispatch/services.js'
 * @import { Services } from '#src/operations/index.js'
 */

helpWhereAsked();

const BUDGET_US = 10;
const NO_BODY = new Uint8Array();
const ANSWER = { body: new Uint8Array(5000).fill(0x20), totalCount: 1, workerMs: 0.1 };

const folder = mkdtempSync(join(tmpdir(), 'gannet-front-end-'));
const environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
const catalog = await openCatalog(environment, systemClock);
const access = await openAccess(environment, systemClock);
await catalog.createAccount('default', 'eu');
await catalog.createList({
  account: 'default',
  name: 'books',
  engine: 'managed',
  language: 'en',
  query_rules: [],
  synonym_rules: [],
  model: null,
  reranker: null,
  suggestions: { require_click: false },
});
const key = await access.createKey({
  account: 'default',
  name: 'bench',
  scope: 'list',
  scope_target: 'books',
  region: 'eu',
  permissions: ['search-result:read'],
  expires_at: null,
});

const config = loadConfig({ argv: [], env: {} });
const metrics = createMetrics();
const lease = {
  handle: 1,
  sequence: 1,
  version: 1,
  definition: definitionOf({ searchable_fields: [{ name: 'title', weight: 1 }], facets: [] }),
  pictures: undefined,
  release() {},
};
/**
 * A list that is only searched by words.
 * @type {ListIndex}
 */
const index = standIn({
  currentVersion: 1,
  lease: () => lease,
  sequence: () => 1,
  searchedBy: () => undefined,
  picturesSearchedBy: () => undefined,
});
/** @type {ListIndexes} */
const indexes = standIn({ opened: () => index });
/** @type {SearchPool} */
const searchPool = { search: () => Promise.resolve(ANSWER) };
/** Encodes and buffers events as the service does, but drops sealed buffers. */
const analytics = createAnalytics({
  config,
  executor: TAKES_ALL,
  isRecorded: () => true,
  clock: systemClock,
  log: pino({ level: 'silent' }),
  metrics,
});
/** Parts that count searches: analytics, and the counters of plans. */
const parts = new Map([[ANALYTICS.name, analytics]]);
const counter = { searched() {} };
const answerCache = new AnswerCache({ bytesMax: 1_048_576, metrics });
/**
 * @param {Services['log']} log
 * @returns {Services}
 */
const services = (log) =>
  standIn({
    config,
    requestMemory: createRequestMemory(memoryBudget(config)),
    log,
    clock: systemClock,
    catalog,
    access,
    indexes,
    searchPool,
    answerCache,
    /** @type {Services['part']} */
    part: ({ name }) => /** @type {any} */ (parts.get(name) ?? counter),
    searchLimiter: new RateLimiter({ limit: 1_000_000_000, windowMs: 60_000 }, systemClock),
    // Only for keys that only read by name, which are not used here.
    readOnlyKeyLimiter: undefined,
    operations,
    metrics: () => metrics.text(),
    ready: () => true,
  });

/**
 * @param {Partial<IncomingRequest>} more
 * @returns {IncomingRequest}
 */
const request = (more) => ({
  method: 'GET',
  path: '/search/default/books/1',
  queryString: 'query=old+man+and+the+sea&match=all&size=10&cache=false',
  credential: { kind: 'key', header: key.secret },
  visitor: { address: '127.0.0.1', userAgent: '', fetchSite: '', origin: '' },
  requestIdHeader: '',
  contentType: undefined,
  origin: '',
  bodyBytes: 0,
  bodyPending: false,
  signal: new AbortController().signal,
  header: () => '',
  read: () => Promise.resolve(NO_BODY),
  stream: () => Readable.from([]),
  ...more,
});
const body = Buffer.from('{"query":"old man and the sea","match":"all","size":10,"cache":false}');
const post = request({
  method: 'POST',
  queryString: '',
  contentType: 'application/json',
  bodyBytes: body.length,
  read: () => Promise.resolve(body),
});
const get = request({});
const kept = request({ queryString: 'query=old+man+and+the+sea&match=all&size=10' });
const wrong = request({ queryString: 'qury=x&size=abc' });

const openSite = () => Promise.reject(new Error('nobody looks at pages here'));
const desk = (log) => {
  const made = services(log);
  return createRequestServer({ services: made, dispatcher: createDispatcher(made), metrics, openSite });
};
const silent = desk(pino({ level: 'silent' }));
const output = new GatheredOutput(new LogOutput(openSync(devNull, 'w')));
const logging = desk(pino({ level: 'info' }, output));
const validate = createValidator(operations.find(({ name }) => name === 'search.list-by-query'));
const raw = {
  params: { account: 'default', list: 'books', version: '1' },
  queryString: get.queryString,
  contentType: undefined,
};

async function check(answer, status) {
  const { status: got, body: text } = await answer;
  if (got !== status) throw new Error(`${got}: ${text}`);
}
await check(silent.handle(get), 200);
await check(silent.handle(post), 200);
await check(silent.handle(wrong), 400);
await check(silent.handle(kept), 200);
if (silent.handle(kept) instanceof Promise) throw new Error('a repeated search is not answered from the cache');

const bench = new Bench({ time: 1000, warmupTime: 500 })
  .add('key only (SHA-256, compare)', () => access.authenticate(key.secret))
  .add('validation only, GET', () => validate(raw))
  .add('whole, GET, log off', () => silent.handle(get))
  .add('whole, GET, log at info', () => logging.handle(get))
  .add('whole, POST, log at info', () => logging.handle(post))
  .add('whole, GET from the cache, log off', () => silent.handle(kept))
  .add('whole, GET from the cache, log at info', () => logging.handle(kept))
  .add('whole, GET refused with 400', () => logging.handle(wrong));
await bench.run();

console.log(`Front end: ${cpus()[0]?.model}, Node ${process.version}; budget ${BUDGET_US} µs for a search\n`);
console.log('| Step | median µs | mean µs | of the budget |\n|---|---|---|---|');
for (const task of bench.tasks) {
  const latency = latencyOf(task);
  const us = latency.p50 * 1000;
  console.log(
    `| ${task.name} | ${us.toFixed(2)} | ${(latency.mean * 1000).toFixed(2)} | ${((us / BUDGET_US) * 100).toFixed(0)} % |`,
  );
}
await environment.close();
rmSync(folder, { recursive: true });
