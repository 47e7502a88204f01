/** `list.check`: compares the store with the index of every version of an open list. */
import type { ListState } from '../../store/index.js';
import type { IngestExecutor } from '../contract/ingest-tasks.js';
import type { PublishedVersions } from '../versions/published-versions.js';

/** Number of records that are looked up by their own words. */
const CHECK_SAMPLE_SIZE = 1000;

export interface CheckedList {
  readonly executor: IngestExecutor;
  readonly listPath: string;
  readonly state: ListState;
  readonly published: PublishedVersions;
}

/** Resolves with the differences. Call it in a turn of the list's queue. */
export async function checkVersions({ executor, listPath, state, published }: CheckedList): Promise<string[]> {
  const problems: string[] = [];
  for (const { version, definition } of state.versions) {
    const found = await published.get(version)?.withLease(definition, ({ handle: generation, segments, ...others }) => {
      const { pages, pictures } = others;
      const beside = {
        pages: pages && { generation: pages.handle, segments: pages.segments },
        pictures: pictures && { generation: pictures.handle, space: pictures.space, segments: pictures.segments },
      };
      const task = { listPath, version, generation, segments, ...beside, sampleSize: CHECK_SAMPLE_SIZE };
      return executor.run({ kind: 'check', ...task });
    });
    problems.push(...(found ?? []));
  }
  return problems;
}
