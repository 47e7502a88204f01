/** How suggestions are written, on real lists of several languages. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { listFixtures, type ListFixtures } from '../../../test/support/lists.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { ListIndex } from '../../index/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { EarlierSearches } from '../earlier/earlier-searches.js';
import { ListContexts } from '../execution/list-context.js';
import { ResponseWriter } from '../response/response-writer.js';
import type { SuggestTarget } from '../types.js';
import { foldedQuery } from './query-words.js';
import { SuggestExecutor } from './suggest-executor.js';
import { WrittenForms } from './written-forms.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [
    { name: 'name', weight: 1 },
    { name: 'text', weight: 1 },
  ],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
  language: 'none',
};

let fixtures: ListFixtures;
const stores = new RecordStoreCache();
const contexts = new ListContexts(kernel);
const earlier = new EarlierSearches({
  queries: [
    { text: 'ksiazki polskie', searches: 4, clicks: 0 },
    { text: 'książki polskie', searches: 3, clicks: 0 },
    { text: 'ksiazki', searches: 2, clicks: 0 },
  ],
  clicks: [],
  fold: (text) => foldedQuery(kernel, text),
});
const executor = new SuggestExecutor(kernel, contexts, stores, (id) => (id === 'learned' ? earlier : undefined));
beforeAll(async () => {
  fixtures = await listFixtures();
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

let lists = 0;
async function listOf(texts: readonly string[], language = 'none'): Promise<ListIndex> {
  const records = texts.map((text, index) => ({ name: `n${index}`, text }));
  return fixtures.add(`list-${(lists += 1)}`, { ...DEFINITION, language }, records, { language });
}

interface Shown {
  readonly text: string;
  readonly highlight: string;
  readonly kind: string;
}
function suggestions(query: string, ...indexes: readonly ListIndex[]): Shown[] {
  return shownFor(
    query,
    indexes.map((list, index) => ({ generation: list.lease().handle, listName: `list ${index}` })),
  );
}
function shownFor(query: string, targets: readonly SuggestTarget[]): Shown[] {
  const writer = new ResponseWriter();
  executor.execute({ kind: 'suggest', targets, options: { query, size: 8, typoTolerance: true } }, writer);
  const { suggestions: all } = JSON.parse(Buffer.from(writer.take()).toString()) as { suggestions: Shown[] };
  return all.filter(({ kind }) => kind === 'query');
}
const texts = (query: string, ...indexes: readonly ListIndex[]) =>
  suggestions(query, ...indexes).map(({ text }) => text);
const highlights = (query: string, ...indexes: readonly ListIndex[]) =>
  suggestions(query, ...indexes).map(({ highlight }) => highlight);

describe('a suggestion is written as records write it', () => {
  it.each<[string, string, string[], string, string]>([
    ['Polish', 'pl', ['Nowe książki', 'Książki i gazety'], 'ksia', 'ksią<em>żki</em>'],
    ['Polish, typed with marks', 'pl', ['Nowe książki', 'Łódź'], 'książ', 'książ<em>ki</em>'],
    ['a letter that does not decompose', 'pl', ['Łódź', 'w Łodzi'], 'lod', 'łod<em>zi</em>'],
    ['German', 'de', ['Zürich', 'Die Straße'], 'zur', 'zür<em>ich</em>'],
    ['ß, of which one half was typed', 'de', ['Die Straße'], 'stras', 'straß<em>e</em>'],
    ['ß in capitals', 'de', ['STRAẞE'], 'stra', 'stra<em>ße</em>'],
    ['French', 'fr', ['L’école', 'une École'], 'eco', 'éco<em>le</em>'],
    ['French with an apostrophe', 'fr', ['Aujourd’hui à l’École'], "l'e", 'l&#39;é<em>cole</em>'],
    ['decomposed marks', 'fr', ['E\u0301te\u0301'], 'ete', 'été'],
    ['Turkish', 'tr', ['ISPARTA'], 'isp', 'ısp<em>arta</em>'],
    ['Turkish in ASCII', 'tr', ['Isparta'], 'isp', 'ısp<em>arta</em>'],
    ['Turkish, a dotted capital', 'tr', ['İSTANBUL'], 'is', 'is<em>tanbul</em>'],
    ['a dotted capital elsewhere', 'en', ['İstanbul'], 'is', 'is<em>tanbul</em>'],
    ['Greek', 'el', ['Η οδός', 'ΟΔΟΣ'], 'οδ', 'οδ<em>ός</em>'],
    ['Vietnamese', 'vi', ['Tiếng Việt'], 'vie', 'việ<em>t</em>'],
    ['Russian', 'ru', ['Ёлка и ёлка'], 'ел', 'ёл<em>ка</em>'],
    ['Ukrainian', 'uk', ['Україна їжа'], 'укр', 'укр<em>аїна</em>'],
    ['Hebrew with points', 'he', ['שָׁלוֹם'], 'של', 'שָׁל<em>וֹם</em>'],
    ['Arabic with vowels', 'ar', ['كِتَاب'], 'كت', 'كِتَ<em>اب</em>'],
    ['Hindi', 'hi', ['हिन्दी भाषा'], 'हि', 'हि<em>न्दी</em>'],
    ['Japanese', 'ja', ['東京タワー'], '東京', '東京<em>タワー</em>'],
    ['Japanese of half width', 'ja', ['ﾀﾜｰ'], 'タ', 'タ<em>ワー</em>'],
    ['a ligature', 'en', ['the \ufb01nance'], 'fin', 'fin<em>ance</em>'],
    ['full width', 'en', ['ｇａｎｎｅｔ'], 'gan', 'gan<em>net</em>'],
    ['a soft hyphen', 'de', ['Schiff\u00adfahrt fährt'], 'schi', 'schi<em>fffahrt</em>'],
    ['capitals alone', 'en', ['NASA and Nasa'], 'na', 'na<em>sa</em>'],
    ['a sign', 'en', ['C# café'], 'c#', 'c#'],
    ['a sign and a mark', 'pl', ['#książki'], '#ksią', '#ksią<em>żki</em>'],
    ['a part of a word', 'pl', ['nowe_książki'], 'ksi', 'ksi<em>ążki</em>'],
    ['a typo', 'pl', ['książki'], 'ksaizki', '<em>książki</em>'],
    ['an escape in JSON', 'fr', ['<école> & "école"'], 'eco', 'éco<em>le</em>'],
  ])('%s', async (_what, language, records, typed, expected) => {
    expect(highlights(typed, await listOf(records, language))).toContain(expected);
  });
});

it('the form of most records is shown, and of two one with marks', async () => {
  expect(texts('resu', await listOf(['résumé', 'resume', 'Resume', 'a resume']))).toEqual(['resume']);
  expect(texts('resu', await listOf(['resume', 'résumé', 'a résumé', 'RÉSUMÉ']))).toEqual(['résumé']);
  // Two that agree decide, whatever those after them have.
  const agreeing = ['résumé', 'un résumé', 'resume', 'a resume', 'the resume'];
  expect(texts('resu', await listOf(agreeing))).toEqual(['résumé']);
  expect(texts('resu', await listOf(['resume', 'résumé']))).toEqual(['résumé']);
  expect(texts('resu', await listOf(['resumé', 'résumé']))).toEqual(['resumé']);
  expect(texts('resu', await listOf(['RESUME', 'My RESUME', 'é RESUME', 'résumé']))).toEqual(['résumé']);
  expect(texts('resu', await listOf(['RESUME', 'My RESUME']))).toEqual(['resume']);
});

it('words before the last one are written so, too, unless they were typed with marks', async () => {
  const list = await listOf(['École normale supérieure', 'une école supérieure']);
  expect(suggestions('ecole normale, sup', list)).toMatchObject([
    { text: 'école normale, supérieure', highlight: 'école normale, sup<em>érieure</em>' },
  ]);
  expect(texts('  Ecole Normale sup', list)).toEqual(['école Normale supérieure']);
  expect(texts('écôle normale sup', list)).toEqual(['écôle normale supérieure']);
  expect(suggestions('ecole normlae sup', list)).toMatchObject([
    { text: 'école normale supérieure', highlight: '<em>école normale </em>sup<em>érieure</em>' },
  ]);
  expect(texts('a b c d e f g h i ecole sup', await listOf(['a b c d e f g h i école supérieure']))).toEqual([
    'a b c d e f g h i école supérieure',
  ]);
});

it('an earlier search without marks is suggested with those of the records, and once for all its spellings', async () => {
  const list = await listOf(['Książki polskie', 'polskie książki', 'książki'], 'pl');
  const learned = { listId: 'learned', requireClick: false };
  expect(shownFor('ksia', [{ generation: list.lease().handle, learned }])).toEqual([
    { text: 'książki polskie', kind: 'query', highlight: 'ksią<em>żki polskie</em>', record_count: 2 },
    { text: 'książki', kind: 'query', highlight: 'ksią<em>żki</em>', record_count: 3 },
  ]);
});

it('of a group, a query is suggested once, as the list writes it that has most records with it', async () => {
  const english = await listOf(['a resume']);
  const french = await listOf(['résumé', 'le résumé', 'un résumé']);
  for (const order of [
    [english, french],
    [french, english],
  ]) {
    expect(suggestions('resu', ...order)).toEqual([
      { text: 'résumé', kind: 'query', highlight: 'résu<em>mé</em>', record_count: 4 },
    ]);
  }
});

it('a word of records that are too long, all but one, is written as that one writes it', async () => {
  const long = (kibibytes: number) => 'ą '.repeat(kibibytes << 9);
  expect(texts('ksi', await listOf([`ksiazki ${long(65)}`, `${long(64)} książki`]))).toEqual(['książki']);
  expect(texts('ksi', await listOf([`książki ${long(800)}`]))).toEqual(['ksiazki']);
});

it('what is not searched is not read, and a name that is searched is', async () => {
  const records = ['RESUME', 'MY RESUME', 'n'].map((name, index) => ({
    name,
    text: index < 2 ? 'a resume' : 'résumé',
  }));
  const named = { ...DEFINITION, searchable_fields: [{ name: 'name', weight: 1 }] };
  const unnamed = { ...DEFINITION, searchable_fields: [{ name: 'text', weight: 1 }] };
  // Of names in capitals, one word with marks is worth more.
  expect(texts('resu', await fixtures.add('both', DEFINITION, records))).toEqual(['résumé']);
  expect(texts('resu', await fixtures.add('unnamed', unnamed, records))).toEqual(['resume']);
  expect(texts('caf', await fixtures.add('named', named, [{ name: 'Café', text: 'plain' }]))).toEqual(['café']);
});

it('a word is read in JSON that has its letters as escapes', async () => {
  const list = await fixtures.add('escaped', DEFINITION, []);
  const session = list.startImport('ndjson');
  await session.push(Buffer.from(String.raw`{"name":"n","text":"\u00c9cole and caf\u00e9"}` + '\n'));
  expect(await session.end()).toMatchObject({ failed: 0 });
  expect([texts('eco', list), texts('caf', list)]).toEqual([['école'], ['café']]);
});

it('of a long query, the last eight words are written as records write them', async () => {
  const list = await listOf(['école b c d e f g h supérieure', 'école b c d e f g h i supérieure']);
  expect(texts('ecole b c d e f g h sup', list)).toEqual(['école b c d e f g h supérieure']);
  expect(texts('ecole b c d e f g h i sup', list)).toEqual(['ecole b c d e f g h i supérieure']);
});

it('forms are kept for each list, and let go of when there are 16,384', async () => {
  let asked = 0;
  const firstRecords: typeof kernel.firstRecords = (...given) => {
    asked += 1;
    return kernel.firstRecords(...given);
  };
  const forms = new WrittenForms({ firstRecords, highlight: (...given) => kernel.highlight(...given) }, stores);
  const [plain, marked] = [(await listOf(['resume'])).lease().handle, (await listOf(['résumé'])).lease().handle];
  const form = (term: string, generation = plain) => forms.of(contexts.get(generation), generation, term);
  expect([form('resume'), form('resume', marked), form('resume'), form('resume', marked)]).toEqual([
    ...['resume', 'résumé'],
    ...['resume', 'résumé'],
  ]);
  expect(asked).toBe(2);
  for (let number = 2; number < 16_384; number += 1) form(`w${number}`);
  const isAsked = (term: string): boolean => {
    const before = asked;
    form(term);
    return asked > before;
  };
  expect([isAsked('w2'), isAsked('resume'), isAsked('one more')]).toEqual([false, false, true]);
  // Only once: those after it are kept again.
  expect([isAsked('resume'), isAsked('w2'), isAsked('one more'), isAsked('resume')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
