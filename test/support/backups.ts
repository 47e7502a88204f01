/** Helpers for tests of backups: lists written during the copy, contents of a restored directory, and kills. */
import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { gannet } from './cli.js';
import { startTestService, type TestService } from './service.js';

export const LISTS = ['films', 'books'];
export const RECORDS = 300;

/** Starts a service with lists of old records. */
export async function startWithLists(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  const service = await startTestService({ dataDir, env });
  for (const name of LISTS) {
    const made = await service.client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] });
    expect(made.status, made.text).toBe(201);
    const records = Array.from({ length: RECORDS }, (_, index) => ({
      name: `old-${index}`,
      title: `first word${index}`,
    }));
    expect((await service.client.bulk('default', name, records)).status).toBe(200);
  }
  return service;
}

/** Pause between writes. Without it there would be thousands of files, each uploaded separately to a slow bucket. */
const WRITE_EVERY_MS = 25;

/** Writes one record after the other into each list until stopped. Resolves with the number acknowledged in each. */
export class Writer {
  readonly acknowledged = new Map(LISTS.map((name) => [name, 0]));
  private isStopped = false;
  private readonly done: Promise<unknown>;

  constructor({ client }: TestService) {
    const files = async () => {
      for (let number = 0; !this.isStopped; number += 1) {
        const put = await client.send('PUT', `/media/default/default/file-${number}`, { bytes: `content ${number}` });
        expect(put.status, put.text).toBe(201);
        await pause(WRITE_EVERY_MS);
      }
    };
    this.done = Promise.all([
      files(),
      ...LISTS.map(async (list) => {
        for (let number = 0; !this.isStopped; number += 1) {
          const answer = await client.bulk('default', list, [{ name: `new-${number}`, title: `second word${number}` }]);
          expect(answer.status, answer.text).toBe(200);
          this.acknowledged.set(list, number + 1);
          await pause(WRITE_EVERY_MS);
        }
      }),
    ]);
  }

  counts(): ReadonlyMap<string, number> {
    return new Map(this.acknowledged);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.done;
  }
}

/** Titles of records by name, for each list. */
export type Content = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * Returns the contents of a data directory as its service has them. Checks that all records are found by their words.
 */
export async function contentOf(path: string): Promise<Content> {
  const restored = await startTestService({ dataDir: path });
  try {
    const content = new Map<string, ReadonlyMap<string, string>>();
    for (const list of LISTS) {
      const records = new Map<string, string>();
      for (let after: string | undefined; ;) {
        const answer = await restored.client.get(`/search-result/default/${list}`, {
          size: 1000,
          ...(after === undefined ? {} : { after }),
        });
        expect(answer.status, answer.text).toBe(200);
        const page = answer.body as { results: { name: string; fields: { title: string } }[]; next?: string | null };
        for (const { name, fields } of page.results) records.set(name, fields.title);
        if (page.next === undefined || page.next === null) break;
        after = page.next;
      }
      const found = await restored.client.get(`/search/default/${list}/1`, { query: 'first second', size: 1 });
      expect((found.body as { total_count: number }).total_count).toBe(records.size);
      content.set(list, records);
    }
    // Every named file is unchanged; a file uploaded after the catalogue was copied may be there without a name.
    const files = await restored.control().post('/media-store/default/default/check', undefined);
    const { problems } = files.body as { problems: string[] };
    expect(problems.filter((each) => !each.endsWith('contents belong to no file'))).toEqual([]);
    return content;
  } finally {
    await restored.stop();
    const checked = await gannet(path, 'doctor', '--data', '--json');
    expect(checked.output).not.toMatch(/"state":"failed"/u);
  }
}

/** Expects all old records, and new ones without a gap: a state that each list was once in. */
export function expectMoment(
  content: Content,
  atLeast: ReadonlyMap<string, number>,
  atMost: ReadonlyMap<string, number>,
): void {
  for (const list of LISTS) {
    const records = content.get(list) ?? new Map<string, string>();
    for (let index = 0; index < RECORDS; index += 1) expect(records.get(`old-${index}`)).toBe(`first word${index}`);
    const count = records.size - RECORDS;
    expect(count).toBeGreaterThanOrEqual(atLeast.get(list) ?? 0);
    // One more may have been written but not yet acknowledged.
    expect(count).toBeLessThanOrEqual((atMost.get(list) ?? 0) + 1);
    for (let number = 0; number < count; number += 1) expect(records.get(`new-${number}`)).toBe(`second word${number}`);
  }
}

/**
 * Runs a command and kills it after some time, with its service if that is the same process. Returns true if it ended
 * before.
 */
export function killed(argv: readonly string[], at: string, afterMs: number): Promise<boolean> {
  const env = { ...process.env, GANNET_DATA_DIR: at, GANNET_PORT: '0' };
  const child = spawn(process.execPath, ['bin/gannet.js', ...argv], { env, stdio: 'ignore' });
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
  return new Promise((resolve) => {
    child.once('exit', (status) => {
      clearTimeout(timer);
      resolve(status === 0);
    });
  });
}
