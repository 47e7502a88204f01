/**
 * Properties of every search in lists whose words are written together or in other letters, on random lists with the
 * real kernel: answers do not depend on how the records came into the list. `GANNET_PROPERTY_CASES=10000` runs more
 * cases.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { listFixtures, searchTask, type ListFixtures } from '../../../test/support/lists.js';
import { SeededRandom } from '../../../test/support/random.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { ListIndex } from '../../index/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { ResponseWriter } from '../response/response-writer.js';
import type { MatchMode, SearchOptions } from '../types.js';
import { StoreRecordReader } from './record-reader.js';
import { SearchExecutor } from './search-executor.js';

const CASES = Number(process.env['GANNET_PROPERTY_CASES'] ?? 20);
const SEED = Number(process.env['GANNET_PROPERTY_SEED'] ?? 5);
const PARTS = 4;
const TIMEOUT_MS = 3_600_000;

/** Pieces that texts and searches are made of, by language. */
const PIECES: Readonly<Record<string, string>> = {
  ja: '東京 タワー 東京タワー 京都 外国 外国人 参政 参政権 権 人 株式 会社 株式会社 山田 りんご リンゴ 渡邊 渡辺 々 人々 食べ 物 食べ物 に の を 動作 対する',
  zh: '清华 清華 大学 大學 清华大学 北京 北京大学 出版社 头发 頭髮 发 發 髮 皇后 后 後 台北 臺北 车站 車站 里 裡 裏 地铁 地鐵 线路',
  ko: '서울 서울시 서울역 서울에서 서울대학교 대학교 학교 대학 병원 만나요 시장 시장에서 부산 부산역',
  th: 'โรงเรียน เรียน โรง ประเทศ ประเทศไทย ไทย ภาษา ภาษาไทย น้ำ แม่น้ำ แม่',
  de: 'dampf schiff dampfschiff schifffahrt dampfschifffahrt fahrt donau datum zeile datumszeile daten feld datenfelder elemente ente eine vereine verein müller mueller feuer strasse straße',
  hi: 'हिंदी हिन्दी सीखें ज़रूरत जरूरत चाँद चांद मुझे है और किताब किताबें गंगा गङ्गा',
  he: 'צה״ל צהל ג׳ירפה גירפה הודיע היום סנדוויץ׳ סנדוויץ ירושלים בירושלים',
};

const DEFINITION: FieldDefinition = {
  searchable_fields: [
    { name: 'title', weight: 3 },
    { name: 'text', weight: 1 },
  ],
  facets: [{ name: 'colour', type: 'string', cardinality: 'Single' }],
  resources: [],
  location_field: null,
  inferred: 'no',
  language: 'none',
};

interface Response {
  total_count: number;
  results: { id: string; name: string; '@text_score': number }[];
}

const random = new SeededRandom(SEED);
const stores = new RecordStoreCache();
const reader = new StoreRecordReader(stores);
let fixtures: ListFixtures;

function textOf(language: string, count: number): string {
  const pieces = (PIECES[language] as string).split(' ');
  return Array.from(
    { length: count },
    () => random.pick(pieces) + random.pick(language === 'ko' || language === 'de' ? [' ', ' ', ''] : ['', '', ' ']),
  ).join('');
}

function recordsOf(language: string, count: number, kind = 'r'): object[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${kind}${index}`,
    title: textOf(language, random.below(3)),
    text: textOf(language, random.below(10)),
    colour: random.pick(['red', 'green']),
  }));
}

function searchWith(executor: SearchExecutor, list: ListIndex, options: SearchOptions): Response {
  const writer = new ResponseWriter();
  executor.execute(searchTask({ list }, { highlight: false, size: 1000, ...options }), writer);
  reader.release();
  return JSON.parse(Buffer.from(writer.take()).toString()) as Response;
}

async function push(list: ListIndex, records: readonly object[]): Promise<void> {
  const session = list.startImport('ndjson');
  await session.push(Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join('')));
  expect((await session.end()).failed).toBe(0);
}

interface Found {
  readonly total: number;
  /** Scores by name, relative to the best one: the best possible score is estimated from what each segment tells. */
  readonly shares: ReadonlyMap<string, number>;
}

function outcome({ total_count: total, results }: Response): Found {
  const best = results[0]?.['@text_score'] ?? 1;
  return { total, shares: new Map(results.map(({ name, '@text_score': score }) => [name, score / best])) };
}

function expectAlike(actual: Response, expected: Response, what: string): void {
  const [one, other] = [outcome(actual), outcome(expected)];
  expect(one.total, what).toBe(other.total);
  expect([...one.shares.keys()].sort(), what).toEqual([...other.shares.keys()].sort());
  for (const [name, share] of one.shares)
    expect(share, `${what}: ${name}`).toBeCloseTo(other.shares.get(name) as number, 3);
}

const found = (response: Response) => new Set(response.results.map(({ name }) => name));

function drawn(language: string): SearchOptions {
  const filter = random.pick([{}, {}, { filter: "colour = 'red'" }]);
  return {
    query: textOf(language, 1 + random.below(4)).trim(),
    match: random.pick<MatchMode>(['any', 'all', 'phrase']),
    typo_tolerance: random.below(2) === 0,
    ...filter,
  };
}

function expectWithin(inner: Response, outer: Response, what: string): void {
  const all = found(outer);
  expect(
    [...found(inner)].filter((name) => !all.has(name)),
    what,
  ).toEqual([]);
  expect(inner.results, what).toHaveLength(inner.total_count);
}

beforeAll(async () => {
  fixtures = await listFixtures();
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

interface Lists {
  /** All records were written in one commit. */
  readonly whole: ListIndex;
  /**
   * The records were written in several commits with searches in between, so what is cached about words is of fewer
   * records.
   */
  readonly parts: ListIndex;
  /** The records were written in one commit, and others were added and deleted afterwards. */
  readonly cleaned: ListIndex;
}

async function makeLists(language: string, kept: SearchExecutor): Promise<Lists> {
  const records = recordsOf(language, 20 + random.below(60));
  const add = (name: string, some: readonly object[]) =>
    fixtures.add(`${language}-${name}`, DEFINITION, some, { language });
  const [whole, parts, cleaned] = [await add('whole', records), await add('parts', []), await add('cleaned', records)];
  await push(cleaned, recordsOf(language, 20, 'junk'));
  for (let part = 0; part < PARTS; part += 1) {
    await push(
      parts,
      records.filter((_, index) => index % PARTS === part),
    );
    for (let number = 0; number < 10; number += 1) {
      for (const list of [parts, cleaned]) searchWith(kept, list, drawn(language));
    }
  }
  const { results } = searchWith(kept, cleaned, { query: '' });
  for (const { id, name } of results) if (name.startsWith('junk')) await cleaned.write({ kind: 'delete', id });
  return { whole, parts, cleaned };
}

function expectAllModes(list: ListIndex, executor: SearchExecutor, options: SearchOptions, what: string): void {
  const find = (more: SearchOptions) => searchWith(executor, list, { ...options, ...more });
  expectWithin(find({ match: 'all' }), find({ match: 'any' }), `any has what all has, ${what}`);
  expectWithin(find({ match: 'phrase' }), find({ match: 'all' }), `all has what phrase has, ${what}`);
  expectWithin(find({ typo_tolerance: false }), find({ typo_tolerance: true }), `typos, ${what}`);
}

describe.each(Object.keys(PIECES))('a list in %s', (language) => {
  it(
    'gives the same answers however its records were written',
    async () => {
      const kept = new SearchExecutor(kernel, reader);
      const { whole, parts, cleaned } = await makeLists(language, kept);
      const checked = Array.from({ length: CASES }, () => drawn(language));
      for (const options of checked) {
        const fresh = new SearchExecutor(kernel, reader);
        const what = JSON.stringify(options);
        const expected = searchWith(fresh, whole, options);
        expectAlike(searchWith(kept, parts, options), expected, `several commits, ${what}`);
        expectAlike(searchWith(fresh, parts, options), expected, `nothing kept, ${what}`);
        expectAlike(searchWith(kept, cleaned, options), searchWith(fresh, cleaned, options), `deletions, ${what}`);
        expectAllModes(whole, kept, options, what);
      }
      await cleaned.reindex();
      for (const options of checked) {
        const expected = searchWith(kept, whole, options);
        expectAlike(searchWith(kept, cleaned, options), expected, `made anew, ${JSON.stringify(options)}`);
      }
    },
    TIMEOUT_MS,
  );
});
