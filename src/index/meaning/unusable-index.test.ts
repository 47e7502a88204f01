/**
 * A vector index that cannot be used, for example after an upgrade to a release with another format: its state is
 * reported.
 */
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIST_SETTINGS, ListsWithModels, putRequest as put } from '../../../test/support/lists-with-models.js';
import { hashedVector, ScriptedEmbedder, ScriptedModels } from '../../../test/support/scripted-models.js';
import { segmentsPath } from '../../store/index.js';
import type { IngestExecutor, ListIndex } from '../index.js';

const FORMAT_AT = 4;
const WITHOUT_INDEX = /^The vectors that are kept are put into an index again: .* searches find by words alone\./;

let lists: ListsWithModels;
/** The error that building an index fails with. */
let refusal: Error | undefined;
/** A build of an index waits for this promise. */
let held: Promise<void> = Promise.resolve();

function guarded(inner: IngestExecutor): IngestExecutor {
  const run: IngestExecutor['run'] = async (task, options) => {
    if (task.kind === 'build-vectors') {
      await held;
      if (refusal !== undefined) throw refusal;
    }
    return inner.run(task, options);
  };
  return { ...inner, run };
}

beforeEach(() => {
  refusal = undefined;
  held = Promise.resolve();
  lists = new ListsWithModels(new ScriptedModels({ mini: new ScriptedEmbedder() }), {}, guarded);
});
afterEach(() => lists.remove());

/** Reopens the list `a1` with vector segments of an unknown format. */
async function reopenedInOtherFormat(): Promise<ListIndex> {
  const list = await lists.create('own');
  await list.write(put('one', { title: 'One' }, [Array.from(hashedVector('one', 8))]));
  expect(list.meaning()).toMatchObject({ state: 'ready', embedded: 1 });
  await lists.close();
  const folder = segmentsPath(lists.path());
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.gvs'))) {
    const descriptor = openSync(join(folder, file), 'r+');
    writeSync(descriptor, Buffer.from([1, 0, 0, 0]), 0, 4, FORMAT_AT);
    closeSync(descriptor);
  }
  lists.open();
  return lists.indexes.open('a1', { ...LIST_SETTINGS, model: 'own' });
}

const restingLists = () =>
  (JSON.parse(readFileSync(join(lists.dataDir, 'lists-at-rest'), 'utf8')) as { lists: [id: string][] }).lists;

describe('a vector index of another format', () => {
  it('is reported until it is rebuilt, which happens without a request', async () => {
    let release = (): void => undefined;
    held = new Promise((resolve) => (release = resolve));
    const list = await reopenedInOtherFormat();
    expect(list.meaning()).toMatchObject({ state: 'embedding', error: expect.stringMatching(WITHOUT_INDEX) as string });
    release();
    await expect.poll(() => list.meaning()).toEqual({ state: 'ready', embedded: 1, pending: 0, failed: 0 });
  });

  it('is reported with the reason if it cannot be rebuilt, and the list is not recorded as having no pending work', async () => {
    refusal = Object.assign(new Error('write'), { code: 'ENOSPC', syscall: 'write' });
    const list = await reopenedInOtherFormat();
    await expect.poll(() => list.meaning()?.state).toBe('failing');
    expect(list.meaning()?.error).toMatch(WITHOUT_INDEX);
    expect(list.meaning()?.error).toContain('there is no space left on the disk');
    await lists.close();
    expect(restingLists()).toEqual([]);
    refusal = undefined;
    const again = await lists.open().indexes.open('a1', { ...LIST_SETTINGS, model: 'own' });
    await expect.poll(() => again.meaning()?.state).toBe('ready');
    await lists.close();
    expect(restingLists()).toHaveLength(1);
    lists.open();
  });

  it('is reported without what belongs only into the log, such as paths', async () => {
    refusal = new Error('/srv/gannet/lists/a1/segments/00000007.gvs is odd');
    const list = await reopenedInOtherFormat();
    await expect.poll(() => list.meaning()?.state).toBe('failing');
    expect(list.meaning()?.error).toMatch(/The last attempt failed: the service's log says why\.$/);
  });
});
