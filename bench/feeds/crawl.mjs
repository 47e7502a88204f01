/**
 * Measures the crawl of a website of 20,000 pages on loopback to its synced file, without politeness: a full crawl, and one without changes.
 * The server is a separate process. Prints Markdown.
 *
 *   npm run build && node bench/feeds/crawl.mjs [pages]
 */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helpWhereAsked } from '../end-to-end/lib/options.mjs';
import { portOf } from '../end-to-end/lib/port.mjs';
import { barRow, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';

helpWhereAsked();
const PAGES = Number(process.argv[2] ?? 20_000);
const LINKS = 30;
const AGAIN = 3;

function page(number) {
  const text = Array.from(
    { length: 12 },
    (_, part) =>
      `<h2 id="s${part}">Part ${part} of ${number}</h2><p>${`Sentence ${number * part} of page ${number} says something about gannets and the sea. `.repeat(6)}</p>`,
  );
  const links = Array.from(
    { length: LINKS },
    (_, step) => `<li><a href="/p/${(number * LINKS + step) % PAGES}">Page ${(number * LINKS + step) % PAGES}</a></li>`,
  );
  return `<!DOCTYPE html><html lang="en"><head><title>Page ${number}</title><meta name="description" content="About ${number}"></head><body><nav><ul>${links.join('')}</ul></nav><main><h1>Page ${number}</h1>${text.join('')}</main><footer>Imprint</footer></body></html>`;
}

/** Serves pages that are made in advance, as the cost of the server is not measured. */
function serve() {
  const pages = Array.from({ length: PAGES }, (_, number) => Buffer.from(page(number)));
  const server = createServer(({ url, headers }, response) => {
    const number = url === '/' ? 0 : Number(/^\/p\/(\d+)$/.exec(url)?.[1] ?? NaN);
    if (!(number < PAGES)) return void response.writeHead(404).end();
    const etag = `"${number}"`;
    if (headers['if-none-match'] === etag) return void response.writeHead(304).end();
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', etag }).end(pages[number]);
  });
  server.listen(0, '127.0.0.1', () => process.send(portOf(server)));
}

async function measure() {
  const [{ WebsiteSource }, { runSync }, { OutboundClient }] = await Promise.all([
    import('#src/feeds/providers/website-source.js'),
    import('#src/feeds/file/sync-run.js'),
    import('#src/platform/outbound/outbound-client.js'),
  ]);
  const server = fork(import.meta.filename, [String(PAGES), 'serve']);
  const port = await new Promise((resolve) => server.once('message', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'gannet-crawl-'));
  const path = join(folder, 'file');
  const files = {
    read: async () => (existsSync(path) ? createReadStream(path, { highWaterMark: 262_144 }) : undefined),
    replace: async (_, bytes) => {
      await writeFile(`${path}.new`, bytes);
      await rename(`${path}.new`, path);
    },
  };
  const limits = { headersMs: 10_000, idleMs: 10_000, totalMs: 60_000, wireBytesMax: 1e7, bytesMax: 1e7 };
  const client = new OutboundClient({
    rules: { allowed_hosts: [], loopback_allowed: true },
    userAgent: 'gannet',
    limits,
    connectMs: 5000,
    keepAliveMs: 5000,
    connectionsPerHostMax: 8,
    connectionsMax: 8,
    waitingMax: 100,
  });
  /** @type {import('#src/feeds/crawl/crawl-types.js').WebsiteSettings} */
  const settings = {
    start_urls: [`http://127.0.0.1:${port}/`],
    include: [],
    exclude: [],
    depth_max: 100,
    pages_max: 1_000_000,
    sitemaps: [],
    respect_robots: true,
    selectors: {},
    split: 'page',
  };
  const run = async () => {
    let early = 0;
    const source = new WebsiteSource({
      settings,
      limits: { pagesPerSecond: 0, requestsMax: 8, runMsMax: 3_600_000, retryAfterMsMax: 0, pageBytesMax: 1e7 },
      client,
      memoryPath: join(folder, 'memory'),
      nowMs: Date.now,
      onProgress: ({ done }) => {
        if (done === 1000) {
          globalThis.gc?.();
          early = process.memoryUsage().rss;
        }
      },
    });
    const [before, startedMs] = [process.cpuUsage(), performance.now()];
    const result = await runSync({
      feed: 'bench',
      path: 'file',
      files,
      source,
      temporaryDir: folder,
      isFresh: false,
      signal: new AbortController().signal,
    });
    const seconds = (performance.now() - startedMs) / 1000;
    const { user, system } = process.cpuUsage(before);
    source.close();
    globalThis.gc?.();
    return { result, seconds, cpu: (user + system) / 1e6, grownMib: (process.memoryUsage().rss - early) / 2 ** 20 };
  };
  const first = await run();
  const modified = statSync(path).mtimeMs;
  const again = [];
  for (let round = 0; round < AGAIN; round += 1) again.push(await run());
  const median = (member) =>
    quantile(
      again.map((each) => each[member]),
      0.5,
    );
  const wasReplaced = again.some(({ result }) => result.wasReplaced);
  const digest = createHash('sha256');
  for await (const piece of createReadStream(path)) digest.update(piece);
  await client.close();
  server.kill();
  const rows = [
    barRow(
      `pages a second, ${first.result.record_count} of ${PAGES} pages to the file`,
      first.seconds && Math.round(PAGES / first.seconds),
      '≥ 300',
      PAGES / first.seconds >= 300,
    ),
    barRow(
      `processor time of a page, first run and ones with nothing changed (median of ${AGAIN}), ms`,
      `${((first.cpu / PAGES) * 1000).toFixed(3)} and ${((median('cpu') / PAGES) * 1000).toFixed(3)}`,
      '',
      true,
    ),
    barRow(
      'memory at the end beyond that after 1,000 pages, MiB',
      Math.round(first.grownMib),
      '≤ 150',
      first.grownMib <= 150,
    ),
    barRow(
      'nothing changed: times faster, by processor time',
      (first.cpu / median('cpu')).toFixed(1),
      '≥ 10',
      first.cpu / median('cpu') >= 10,
    ),
    barRow(
      'nothing changed: times faster, by the clock',
      (first.seconds / median('seconds')).toFixed(1),
      '≥ 10',
      first.seconds / median('seconds') >= 10,
    ),
    barRow(
      'nothing changed: file untouched',
      String(statSync(path).mtimeMs === modified && !wasReplaced),
      'true',
      !wasReplaced,
    ),
  ];
  console.log(`${machineTable()}\n\n${markdownTable(['What', 'Figure', 'Bar', ''], rows)}`);
  rmSync(folder, { recursive: true });
}

if (process.argv[3] === 'serve') serve();
else await measure();
