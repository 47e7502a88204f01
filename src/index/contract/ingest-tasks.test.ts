import { expect, it } from 'vitest';
import { ListsInFolder, LIST_SETTINGS } from '../../../test/support/lists-in-folder.js';
import type { IngestExecutor, IngestOptions, IngestTask } from './ingest-tasks.js';

it("Each ingest task of a list is run with the list's account", async () => {
  const told: [IngestTask['kind'], string | undefined][] = [];
  const listening = (inner: IngestExecutor): IngestExecutor => ({
    waiting: 0,
    waitingByAccount: () => new Map(),
    run: (task, options?: IngestOptions) => {
      told.push([task.kind, options?.account]);
      return inner.run(task, options);
    },
  });
  const lists = new ListsInFolder({}, listening).open({});
  try {
    const definition = {
      searchable_fields: [],
      facets: [],
      resources: [],
      location_field: null,
      inferred: 'no',
    } as const;
    const list = await lists.indexes.create('id', LIST_SETTINGS, definition);
    await list.write({ kind: 'put', name: 'a', fields: { title: 'a' } });
    await lists.indexes.clone('id', 'copy', LIST_SETTINGS);
    expect(told.map(([kind]) => kind)).toEqual(expect.arrayContaining(['create-list', 'write-batch', 'clone-list']));
    expect(new Set(told.map(([, account]) => account))).toEqual(new Set([LIST_SETTINGS.account]));
  } finally {
    await lists.remove();
  }
});
