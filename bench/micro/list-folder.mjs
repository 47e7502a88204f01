/**
 * Measures a listing of a folder store with all of its files in one folder, page by page, and the longest time that it blocks others:
 * `node bench/micro/list-folder.mjs [files]`.
 */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { FolderStore } from '#src/media/folder/folder-store.js';
import { readNumbers } from '../end-to-end/lib/options.mjs';

const PAGE = 1000;
const { files } = readNumbers({ files: 50_000 });
const path = mkdtempSync(join(tmpdir(), 'gannet-list-'));
for (let number = 0; number < files; number += 1) writeFileSync(join(path, `file-${number}.pdf`), '');
const longAgo = new Date('2026-01-01T00:00:00Z');
utimesSync(path, longAgo, longAgo);

const store = new FolderStore({ path, events: { uploaded: () => undefined, deleted: () => undefined } });
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const began = process.cpuUsage();
let listed = 0;
for (let after = ''; ;) {
  const page = await store.list({ prefix: '', after, size: PAGE });
  listed += page.files.length;
  if (!page.hasMore) break;
  after = page.files.at(-1).path;
}
const { user, system } = process.cpuUsage(began);
const longest = Math.round(delay.max / 1e6);
console.log(
  `${listed} files: ${Math.round((user + system) / 1000)} ms of a processor, at most ${longest} ms in a turn`,
);
rmSync(path, { recursive: true });
