/**
 * Runs the five minutes of docs/feeds.md with this documentation as the website, command by command as they are on
 * the page.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from 'vitest';
import { codeBlocks } from '../support/documentation.js';
import { eventually } from '../support/eventually.js';
import { FeedService } from '../support/feeds/feed-service.js';
import { whyWithout } from '../support/programs.js';
import { itWhere } from '../support/skip.js';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** Returns the block that starts the two servers, and the commands behind it, without the remarks beside them. */
function commands(): { readonly servers: string; readonly rest: readonly string[] } {
  const [servers, tour] = codeBlocks('docs/feeds.md').filter(({ language }) => language === 'sh');
  const lines = (tour?.text ?? '').split('\n').map((line) => line.replace(/\s{2,}#.*$/, ''));
  return { servers: servers?.text ?? '', rest: lines.filter((line) => line !== '') };
}

/**
 * Serves this package as docs/feeds.md does, but on a port of the system's choice. Rejects with Python's output if it
 * does not serve.
 */
async function servedByPython() {
  const server = spawn('python3', ['-u', '-m', 'http.server', '0', '--bind', '127.0.0.1'], { cwd: PACKAGE });
  const ended = once(server, 'close');
  let said = '';
  // Its log of requests is read as well: it would wait if the pipe were full.
  server.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-10_000)));
  const port = await new Promise<string>((resolve, reject) => {
    createInterface(server.stdout).on('line', (line) => {
      const [, port] = / port (\d+) /.exec(line) ?? [];
      if (port !== undefined) resolve(port);
    });
    ended.then(
      () => reject(new Error(`Python does not serve: ${said}`)),
      (error: unknown) => reject(error as Error),
    );
  });
  const close = async () => {
    server.kill();
    await ended;
  };
  return { host: `127.0.0.1:${port}`, close };
}

let feeds: FeedService;
beforeAll(async () => {
  // Started as on the page, but without the limit of pages per second, which would take too long.
  feeds = await FeedService.start({ env: { GANNET_FEEDS_PAGES_PER_SECOND: '0' } });
});
afterAll(() => feeds.close());

const why = whyWithout('python3', 'curl', 'bash');
itWhere(why === undefined, why ?? '')('The commands of the tour make the documentation searchable', async () => {
  const { servers, rest } = commands();
  expect(servers).toContain('python3 -m http.server 8000');
  expect(rest.length).toBeGreaterThan(5);
  const site = await servedByPython();
  try {
    const { key } = await feeds.service.createKey({ access: 'full' });
    const api = `api() { curl -s -H "X-API-Key: ${key}" -H 'Content-Type: application/json' "$@"; echo; }`;
    const here = (line: string) =>
      line
        .replaceAll('127.0.0.1:8000', site.host)
        .replaceAll('http://127.0.0.1:8400', feeds.service.address)
        .replaceAll('npx gannet', 'node bin/gannet.js');
    const env = { ...process.env, GANNET_DATA_DIR: feeds.service.dataDir };
    const outputs: string[] = [];
    for (const line of rest) {
      // A person who types the commands has waited until the feed is synced and the list has its records.
      if (/gannet (?:search|feed list)/.test(line)) expect((await feeds.settled('docs')).status).toBe('Synced');
      if (line.includes('gannet search')) {
        await eventually(
          () => feeds.source('docs'),
          ({ last_imported: at }) => at !== null,
        );
      }
      const { stdout } = await run('bash', ['-c', `${api}\n${here(line)}`], { cwd: PACKAGE, env });
      outputs.push(stdout);
    }
    expect(outputs[0]).toContain('/docs/architecture.md');
    const { record_count: pages } = await feeds.feed('docs');
    expect(pages).toBeGreaterThan(100);
    expect(outputs.at(-2)).toMatch(/docs\s+website\s+Synced/);
    expect(outputs.at(-1)).toContain('0141');
  } finally {
    await site.close();
  }
});
