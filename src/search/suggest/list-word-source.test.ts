/** Completions of words that are written without spaces, on a real list. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { listFixtures, type ListFixtures } from '../../../test/support/lists.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { ListIndex } from '../../index/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { ListContexts } from '../execution/list-context.js';
import { ListWordSource } from './list-word-source.js';
import { QuerySpelling } from './query-spelling.js';
import { WrittenForms } from './written-forms.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [{ name: 'text', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
  language: 'none',
};
const TEXTS = [
  '東京タワーに行った',
  '清华大学出版社',
  '서울대학교 병원',
  '新しい東京タワー',
  'Learn C# today',
  'Learn C++ now',
  'Watch #search',
];

let fixtures: ListFixtures;
let list: ListIndex;
const stores = new RecordStoreCache();
const source = new ListWordSource(kernel, new QuerySpelling(kernel, new WrittenForms(kernel, stores)));
const contexts = new ListContexts(kernel);

beforeAll(async () => {
  fixtures = await listFixtures();
  const records = TEXTS.map((text, index) => ({ name: `text ${index}`, text }));
  list = await fixtures.add('texts', DEFINITION, records, { language: 'none' });
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

function suggestions(text: string): string[] {
  const generation = list.lease().handle;
  const request = { text, size: 8, typoTolerance: true };
  return source.suggest(contexts.get(generation), generation, request).map(({ written }) => {
    const { text: shown, highlight } = written();
    return `${shown} ${highlight}`;
  });
}

it('ListWordSource completes words that the dictionary cuts in two while they are typed', () => {
  expect(suggestions('東京')).toEqual(['東京タワー 東京<em>タワー</em>']);
  expect(suggestions('東京タ')).toEqual(['東京タワー 東京タ<em>ワー</em>']);
  expect(suggestions('新しい東京タ')).toEqual(['新しい東京タワー 新しい東京タ<em>ワー</em>']);
  expect(suggestions('清华')).toEqual(['清华大学 清华<em>大学</em>']);
  expect(suggestions('서울')).toEqual(['서울대학교 서울<em>대학교</em>']);
});

it('ListWordSource completes words with signs behind them, also while these are typed', () => {
  expect(suggestions('learn c')).toEqual([
    'learn c learn c',
    'learn c# learn c<em>#</em>',
    'learn c++ learn c<em>++</em>',
  ]);
  expect(suggestions('C+')).toEqual(['c++ c+<em>+</em>']);
  expect(suggestions('c#')).toEqual(['c# c#']);
  expect(suggestions('watch #se')).toEqual(['watch #search watch #se<em>arch</em>']);
  expect(suggestions('learn +')).toEqual([]);
  const generation = list.lease().handle;
  expect(['c#', 'c', '#search', '#learn'].map((text) => source.count(generation, text))).toEqual([1, 2, 1, 2]);
});

it('ListWordSource counts the records that have what it shows, and shows another correction if the first one has none', async () => {
  const texts = [
    'ganet rock',
    'ganet rock and ganet reef',
    'ganet shore',
    'gannte rock',
    'gannte rubble',
    'blue rubble',
    'blew gannte ridge',
  ];
  const records = texts.map((text, index) => ({ name: `bird ${index}`, text }));
  const birds = await fixtures.add('birds', DEFINITION, records, { language: 'none' });
  const generation = birds.lease().handle;
  const found = (text: string) =>
    source
      .suggest(contexts.get(generation), generation, { text, size: 8, typoTolerance: true })
      .map(({ written, recordCount }) => `${written().text}: ${recordCount}`);
  expect(found('gannet ro')).toEqual(['ganet rock: 2']);
  expect(found('gannet ru')).toEqual(['gannte rubble: 1']);
  // Of two misspelt words, one or the other may have another correction.
  expect(found('blwe gannet ri')).toEqual(['blew gannte ridge: 1']);
  expect(found('gannet nothing')).toEqual([]);
});
