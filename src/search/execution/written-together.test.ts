/** Words that are written without spaces between them, on real lists with the real kernel. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { listFixtures, searchTask, type ListFixtures } from '../../../test/support/lists.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { ListIndex } from '../../index/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { ResponseWriter } from '../response/response-writer.js';
import type { SearchOptions } from '../types.js';
import { StoreRecordReader } from './record-reader.js';
import { SearchExecutor } from './search-executor.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [{ name: 'text', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
  language: 'none',
};
const TEXTS = {
  tower: '東京タワーに行った',
  tokyo: '東京に行った',
  government: '東京都の広報',
  kyoto: '京都の寺',
  votes: '外国人の参政権について',
  company: '株式会社山田',
  banking: 'インターネットバンキングの手引き',
  about: '動作に対する応答',
  tsinghua: '清华大学出版社',
  apple: '青森のリンゴ',
  family: '國學院大學の渡邊',
  seoul: '서울에서 만나요',
  university: '서울대학교 병원',
};
const GERMAN = {
  ship: 'Der Donaudampfschifffahrtskapitän',
  steam: 'Die Dampfschifffahrt auf dem Rhein',
  sailing: 'Eine Schifffahrt',
  element: 'Das Element und die Elemente',
  line: 'Die Datumszeile und jede Zeile',
  fate: 'Das Fatum und eine lange Rede von ihm',
  miller: 'Müller',
  wagner: 'Herr Waegner',
  fire: 'Feuer und Quelle',
  club: 'Die Vereine (Ver.) der Stadt',
};

/** Texts that users of these languages also find by other letters. */
const OTHER_LETTERS = {
  station: '台北車站前廣場',
  tsinghua: '清華大學出版社',
  hair: '她的頭髮很長',
  metro: '北京地铁线路图',
  hindi: 'हिन्दी सीखें',
  need: 'मुझे ज़रूरत है',
  army: 'צה״ל הודיע',
};
const RANKED = {
  repeated: '서울대학교 서울대학교 서울대학교 서울대학교 서울대학교',
  longer: '서울에서 서울대학교 서울역 바다 하늘',
  once: '서울역 산 강 바다 하늘',
  exact: '서울 산 강 바다 하늘',
};

interface Response {
  readonly results: readonly {
    readonly name: string;
    readonly highlights: Record<string, string>;
    readonly explain: { readonly groups: readonly { readonly terms: readonly { term: string; kind: string }[] }[] };
  }[];
}

let fixtures: ListFixtures;
let texts: ListIndex;
let german: ListIndex;
let letters: ListIndex;
let ranked: ListIndex;
const stores = new RecordStoreCache();
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader);
const recordsOf = (all: Readonly<Record<string, string>>) =>
  Object.entries(all).map(([name, text]) => ({ name, text }));

beforeAll(async () => {
  fixtures = await listFixtures();
  texts = await fixtures.add('texts', DEFINITION, recordsOf(TEXTS), { language: 'none' });
  letters = await fixtures.add('letters', DEFINITION, recordsOf(OTHER_LETTERS), { language: 'none' });
  ranked = await fixtures.add('ranked', DEFINITION, recordsOf(RANKED), { language: 'none' });
  german = await fixtures.add('german', { ...DEFINITION, language: 'de' }, recordsOf(GERMAN), { language: 'de' });
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

function search(options: SearchOptions, list: ListIndex): Response {
  const writer = new ResponseWriter();
  executor.execute(searchTask({ list }, options), writer);
  reader.release();
  return JSON.parse(Buffer.from(writer.take()).toString()) as Response;
}
function names(query: string, options: SearchOptions = {}, list = texts): string[] {
  return search({ query, match: 'all', typo_tolerance: false, ...options }, list).results.map(({ name }) => name);
}

describe('a word', () => {
  it('finds the longer words that begin or end with it, ranked behind itself', () => {
    expect(names('東京')).toEqual(['government', 'tokyo', 'tower']);
    expect(names('タワー')).toEqual(['tower']);
    expect(names('株式')).toEqual(['company']);
    expect(names('バンキング')).toEqual(['banking']);
    // In a query of its own this word is cut in two.
    expect(names('清华')).toEqual(['tsinghua']);
    expect(names('서울').sort()).toEqual(['seoul', 'university']);
    expect(names('대학교')).toEqual(['university']);
  });

  it('ranks above any number of longer words, and more of these above fewer', () => {
    expect(names('서울', {}, ranked)).toEqual(['exact', 'repeated', 'longer', 'once']);
  });

  it('does not match its characters across a word boundary of the dictionary', () => {
    expect(names('京都')).toEqual(['kyoto']);
  });

  it('is explained as a part of a compound', () => {
    const [hit] = search({ query: 'タワー', explain: true }, texts).results;
    expect(hit?.explain.groups[0]?.terms).toMatchObject([{ term: '東京タワー', kind: 'compound' }]);
    expect(hit?.highlights['text']).toBe('<em>東京タワー</em>に行った');
  });

  it('is found by its parts in languages with compounds, and in no others', () => {
    expect(names('Schifffahrt', {}, german)).toEqual(['sailing', 'steam']);
    expect(names('Donau', {}, german)).toEqual(['ship']);
  });

  it('does not match as a part if the rest of the longer word is no word', () => {
    expect(names('Mente', {}, german)).toEqual([]);
  });

  it('does not match as a part if it only links words', () => {
    expect(names('Eine', {}, german).sort()).toEqual(['fate', 'sailing']);
  });

  it('that occurs only in longer words finds these before its possible corrections', () => {
    expect(names('Schiffahrt', { typo_tolerance: true }, german)[0]).toBe('sailing');
    expect(names('Datum', { typo_tolerance: true }, german)).toEqual(['line', 'fate']);
  });
});

describe('a letter that is also written as two (ü and ue)', () => {
  it('matches both spellings, in a phrase as well', () => {
    for (const match of ['all', 'phrase'] as const) {
      expect(names('Mueller', { match }, german)).toEqual(['miller']);
      expect(names('Herr Wägner', { match }, german)).toEqual(['wagner']);
      expect(names('Wägner', { match }, german)).toEqual(['wagner']);
      expect(names('Fuer', { match }, german)).toEqual([]);
      expect(names('Mueller', { match }, texts)).toEqual([]);
    }
  });
});

describe('a run of characters', () => {
  it('finds words that the list has cut in other places', () => {
    expect(names('対する')).toEqual(['about']);
    expect(names('参政権')).toEqual(['votes']);
    expect(names('外国人の参政権', { match: 'phrase' })).toEqual(['votes']);
  });

  it('finds the same words in other letters', () => {
    expect(names('りんご')).toEqual(['apple']);
    expect(names('国学院大学')).toEqual(['family']);
    expect(names('渡辺')).toEqual(['family']);
  });

  it('matches as a phrase only if it is the whole query', () => {
    for (const query of ['対する', '清华', '東京', 'タワー'])
      expect(names(query, { match: 'phrase' })).toEqual(names(query));
    expect(names('清华出版社', { match: 'phrase' })).toEqual([]);
    expect(names('清华大学出版社', { match: 'phrase' })).toEqual(['tsinghua']);
  });
});

describe('other letters', () => {
  it('of Chinese find the same words, and longer ones', () => {
    for (const query of ['台北车站', '台北車站', '臺北車站']) expect(names(query, {}, letters)).toEqual(['station']);
    for (const query of ['清华大学', '清華大學', '清华', '大学'])
      expect(names(query, {}, letters)).toContain('tsinghua');
    expect(names('头发', {}, letters)).toEqual(['hair']);
    expect(names('地鐵線路圖', {}, letters)).toEqual(['metro']);
    expect(names('台北车站', { match: 'phrase' }, letters)).toEqual(['station']);
    // In a list that has neither, 后 is not taken for 後, nor 里 for 裏.
    expect(names('后里', {}, letters)).toEqual([]);
  });

  it('of Devanagari and Hebrew find the same words', () => {
    for (const query of ['हिंदी', 'हिन्दी']) expect(names(query, {}, letters)).toEqual(['hindi']);
    for (const query of ['ज़रूरत', 'जरूरत']) expect(names(query, {}, letters)).toEqual(['need']);
    for (const query of ['צהל', 'צה״ל', 'צה"ל']) expect(names(query, {}, letters)).toEqual(['army']);
    expect(names('हिंदी सीखें', { match: 'phrase' }, letters)).toEqual(['hindi']);
  });
});
