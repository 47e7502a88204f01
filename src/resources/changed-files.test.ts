/** Which lists check a changed file: open lists at once, closed ones if they link to it, and no others. */
import { expect, it, vi } from 'vitest';
import { ChangedFiles, type ChangedFilesOptions } from './changed-files.js';

interface MadeList {
  readonly isOpen?: boolean;
  readonly hasDocuments?: boolean;
  readonly links?: readonly string[];
  readonly fails?: boolean;
}

function changedFiles(lists: readonly MadeList[]) {
  const told: [string, readonly string[]][] = [];
  const asked: string[] = [];
  const opened: string[] = [];
  const warn = vi.fn();
  const of = (id: string) => lists[Number(id.slice(1))] ?? {};
  const indexes = {
    glance: (id: string) => {
      if (of(id).isOpen !== true) return undefined;
      const changed = (urls: readonly string[]) => {
        told.push([id, urls]);
        return of(id).fails === true ? Promise.reject(new Error('closed')) : Promise.resolve();
      };
      return { files: { changed } };
    },
    outline: (id: string) => ({ resources: () => (of(id).hasDocuments === false ? undefined : {}) }),
    linksBelow: (id: string, prefix: string) => {
      asked.push(`${id} ${prefix}`);
      if (of(id).fails === true) throw new Error('damaged');
      return (of(id).links ?? []).some((link) => link.startsWith(prefix));
    },
    open: (id: string) => {
      opened.push(id);
      return Promise.resolve({});
    },
  };
  const catalog = { lists: () => lists.map((_, number) => ({ id: `l${number}`, name: `n${number}` })) };
  const files = new ChangedFiles({ catalog, indexes, log: { warn } } as unknown as ChangedFilesOptions);
  return { files, told, asked, opened, warn };
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

it('A changed file is reported to open lists, and opens closed lists that link to it', async () => {
  const { files, told, asked, opened, warn } = changedFiles([
    { isOpen: true },
    { links: ['media:s/a.pdf'] },
    { links: ['media:s/b.pdf'] },
    { hasDocuments: false },
  ]);
  files.add('default', 'media:s/a.pdf');
  expect(told).toEqual([['l0', ['media:s/a.pdf']]]);
  await expect.poll(() => opened).toEqual(['l1']);
  await turns(10);
  expect(asked).toEqual(['l1 media:s/a.pdf', 'l2 media:s/a.pdf']);
  expect([opened.length, warn.mock.calls.length]).toEqual([1, 0]);
});

it('A thousand changes go through 10,000 closed lists once, and let other work run meanwhile', async () => {
  const lists = Array.from({ length: 10_000 }, (_, number) => ({ links: [`media:s/dir/${number}.pdf`] }));
  const { files, asked, opened } = changedFiles(lists);
  for (let number = 0; number < 1000; number += 1) files.add('default', `media:s/dir/x${number}.pdf`);
  let others = 0;
  while (asked.length < lists.length) {
    await turns(1);
    others += 1;
  }
  expect(others).toBeGreaterThan(lists.length / 2);
  await turns(20);
  expect(asked.length).toBe(lists.length);
  expect(new Set(asked.map((each) => each.split(' ')[1]))).toEqual(new Set(['media:s/dir/x']));
  expect(opened).toEqual([]);
});

it('A list that cannot be examined is logged, and the next ones are examined', async () => {
  const { files, opened, warn } = changedFiles([
    { fails: true },
    { isOpen: true, fails: true },
    { links: ['media:s/a.pdf'] },
  ]);
  files.add('default', 'media:s/a.pdf');
  await expect.poll(() => opened).toEqual(['l2']);
  expect(warn.mock.calls.length).toBe(2);
});

it('Changes during a pass are handled in another pass, and none after the end', async () => {
  const { files, asked, opened } = changedFiles([{ links: ['media:s/b.pdf'] }, { links: [] }, { links: [] }]);
  files.add('default', 'media:s/a.pdf');
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  files.add('default', 'media:s/b.pdf');
  await expect.poll(() => opened).toEqual(['l0']);
  files.add('default', 'media:s/b.pdf');
  await files.close();
  const before = asked.length;
  files.add('default', 'media:s/b.pdf');
  await turns(20);
  expect(asked.length).toBe(before);
});
