/**
 * The same for lists whose records link to documents: what is found on pages, and besides in fields, is on the page of
 * hits that is its own, with the same scores of every kind. `GANNET_RANKED_ROUNDS` and `GANNET_RANKED_SEED` as in
 * `ranked.test.ts`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FileReader } from '../../src/extracts/index.js';
import type { FieldDefinition } from '../../src/catalog/index.js';
import type { ListIndex } from '../../src/index/index.js';
import type { SearchOptions } from '../../src/search/index.js';
import { eventually } from '../support/eventually.js';
import { LIST_SETTINGS, ListsInFolder, NEVER_QUIET_MS } from '../support/lists-in-folder.js';
import { SeededRandom } from '../support/random.js';
import { compared, optionsOf } from './checks.js';
import { FACETS, madeFields, push, type MadeList, type MadeRecord } from './made-lists.js';
import { madeOthers, madeWords } from './made-searches.js';
import { madeText, madeVocabulary, type Vocabulary } from './made-texts.js';
import { ALL, SearchedList } from './searched-list.js';

const ROUNDS = Number(process.env['GANNET_RANKED_ROUNDS'] ?? 2);
const SEED = Number(process.env['GANNET_RANKED_SEED'] ?? 1);
const SEARCHES = Number(process.env['GANNET_RANKED_SEARCHES'] ?? 15);
const TIMEOUT_MS = 24 * 3_600_000;
const SIZES = [1, 2, 3, 10, 100, 1000];

let vocabulary: Vocabulary;
let lists: ListsInFolder;

/** The number of a file's pages, and their texts, follow from its URL. */
const reader: FileReader = {
  pictureModel: () => undefined,
  framesBy: '',
  checkMs: 3_600_000,
  parallelMax: 4,
  retryMs: [],
  read: ({ url }) => {
    const random = new SeededRandom(Number(url.replaceAll(/\D/g, '')));
    const count = 1 + random.below(random.pick([2, 20, 60]));
    const pages = Array.from({ length: count }, (_, at) => {
      return { page: at + 1, text: madeText(random, vocabulary, 200, at / count) };
    });
    const content = { kind: 'document' as const, pageCount: count, pages, truncated: false };
    return Promise.resolve({ kind: 'read' as const, file: { validators: {}, hash: url }, content });
  },
};

async function madeListOfPages(random: SeededRandom, id: string): Promise<MadeList> {
  vocabulary = madeVocabulary(random);
  const definition: FieldDefinition = {
    searchable_fields: [
      { name: 'title', weight: 3 },
      { name: 'text', weight: 1 },
    ],
    facets: FACETS.map((facet) => ({ ...facet })),
    resources: [{ name: 'report', kind: 'document' }],
    location_field: 'place',
    inferred: 'no',
  };
  const settings = { ...LIST_SETTINGS, list: id };
  const index: ListIndex = await lists.indexes.create(id, settings, definition);
  const records = new Map<string, MadeRecord>();
  const [count, files] = [random.pick([40, 2500]), random.pick([20, 150])];
  for (let commit = 0; commit < 3; ++commit) {
    const written = Array.from({ length: count }, (_, at): MadeRecord => {
      const report = `https://docs.example/${id.replaceAll(/\D/g, '')}/${random.below(files)}.pdf`;
      const fields = madeFields(random, { vocabulary }, 60, at / count);
      const number = random.below(8) === 0 && commit > 0 ? random.below(count) : commit * count + at;
      return { name: `r${number}`, fields: random.below(3) === 0 ? { ...fields, report } : fields };
    });
    for (const record of written) records.set(record.name, record);
    await push(index, written);
  }
  await eventually(
    () => Promise.resolve(index.files.status()?.pending ?? 0),
    (pending) => pending === 0,
  );
  return { id, settings, definition, vocabulary, records, isRewritten: true, index };
}

function checkSearch(searched: SearchedList, random: SeededRandom): void {
  const floor = random.below(4) === 0 ? { minimum_document_score: random.below(100) / 100 } : {};
  const options: SearchOptions = {
    ...optionsOf(madeWords(random, searched.list), madeOthers(random)),
    ...floor,
  };
  const all = searched.find(options, { skip: 0, size: ALL });
  for (const score of all.scores) expect(score > 0 && score <= 1, JSON.stringify(options)).toBe(true);
  if (JSON.stringify(all.sources).includes('["document",0.')) compared.pages += 1;
  const pages = SIZES.map((size) => ({ skip: 0, size }));
  const skip = random.below(all.numbers.length + 2);
  for (const { skip: begin, size } of [...pages, { skip, size: 1 + random.below(40) }]) {
    const found = searched.find(options, { skip: begin, size });
    const part = <Value>(values: readonly Value[]) => values.slice(begin, begin + size);
    const what = `skip ${begin}, size ${size}, ${JSON.stringify(options)}`;
    expect([found.numbers, found.scores, found.sources], what).toEqual([
      part(all.numbers),
      part(all.scores),
      part(all.sources),
    ]);
    expect([found.total, found.facets, found.ranges], what).toEqual([all.total, all.facets, all.ranges]);
    compared.searches += 1;
  }
}

beforeAll(() => {
  lists = new ListsInFolder({ GANNET_INGEST_MERGE_FAN_IN: '8' }).open({ quietMs: NEVER_QUIET_MS });
  lists.indexes.useReader(reader);
});
afterAll(async () => {
  await lists.remove();
});

it(
  'answers with the best records by fields and pages as a search of all would',
  async () => {
    for (let round = 0; round < ROUNDS; ++round) {
      const random = new SeededRandom(SEED + round);
      const list = await madeListOfPages(random, `p${SEED + round}`);
      const searched = new SearchedList(list);
      try {
        for (let search = 0; search < SEARCHES; ++search) checkSearch(searched, random);
      } catch (error) {
        throw new Error(`seed ${SEED + round}: ${error instanceof Error ? error.message : ''}`, { cause: error });
      } finally {
        searched.release();
      }
      await lists.indexes.remove(list.id);
    }
    process.stdout.write(`${JSON.stringify(compared)}\n`);
  },
  TIMEOUT_MS,
);
