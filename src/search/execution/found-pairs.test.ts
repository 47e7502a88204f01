/**
 * Pairs of a text and a query that people expect to match, and some that they do not, on a real list with the real
 * kernel.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { listFixtures, searchTask, type ListFixtures } from '../../../test/support/lists.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { ListIndex } from '../../index/index.js';
import { RecordStoreCache } from '../../records/index.js';
import { ResponseWriter } from '../response/response-writer.js';
import { StoreRecordReader } from './record-reader.js';
import { SearchExecutor } from './search-executor.js';
import type { SearchOptions } from '../types.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [{ name: 'text', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
  language: 'en',
};

/**
 * A text, a query (a phrase if it is in `"…"`, otherwise all of its words), and what is highlighted; null if there
 * must be no hit.
 */
type Pair = readonly [text: string, query: string, marked: readonly string[] | null];

const PAIRS: readonly Pair[] = [
  ['See example.com first', 'example', ['example']],
  ['See https://www.example.com/some-page today', 'example', ['example']],
  ['See https://www.example.com/some-page today', 'example.com', ['example', 'com']],
  ['See https://www.example.com/some-page today', '"some page"', ['some', 'page']],
  ['Write to jane.doe@example.org', 'jane', ['jane']],
  ['Write to jane.doe@example.org', 'doe', ['doe']],
  ['Write to jane.doe@example.org', '"Jane Doe"', ['jane', 'doe']],
  ['Write to jane.doe@example.org', 'jane.doe@example.org', ['jane.doe', 'example.org']],
  ['report_2024.pdf', 'report', ['report']],
  ['report_2024.pdf', 'report 2024', ['report', '2024']],
  ['/srv/files/report.pdf', 'report', ['report']],
  ['/srv/files/report.pdf', 'report.pdf', ['report.pdf']],
  ['Ｒｅｐｏｒｔ＿２０２４', '2024', ['２０２４']],
  ['The first_name of a person', 'name', ['name']],
  ['The first_name of a person', '"first name"', ['first', 'name']],
  ['The first_name of a person', 'firstname', ['first_name']],
  ['The first name of a person', 'first_name', ['first', 'name']],
  ['Call parseJson on it', 'json', ['Json']],
  ['Call parseJson on it', '"parse json"', ['parseJson']],
  ['Call parseJson on it', 'parse_json', ['parseJson']],
  ['Call parse_json on it', 'parseJson', ['parse_json']],
  ['Call parse json on it', 'parseJson', ['parse', 'json']],
  ['Call utils.parseJson_fast on it', 'parsejson', ['parseJson']],
  ['Call utils.parseJson_fast on it', '"utils parsejson"', ['utils', 'parseJson']],
  ['Call utils.parseJson_fast on it', '"json fast"', ['Json', 'fast']],
  ['java.lang.NullPointerException', '"null pointer"', ['Null', 'Pointer']],
  ['The getElementById method', 'element', ['Element']],
  ['Use lodash.debounce here', 'lodash', ['lodash']],
  ['status:open', 'open', ['open']],
  ['Use node.js here', '"node js"', ['node', 'js']],
  ['Use node js here', 'node.js', ['node', 'js']],
  ['Use node.js here', 'nodejs', ['node.js']],
  ['Use node.js here', 'node.js', ['node.js']],
  ['пример.рф/страница', 'пример', ['пример']],
  ['The end.Then more', 'then', ['Then']],
  // Other spellings of the same words.
  ["We love rock'n'roll", 'rock n roll', ["rock'n'roll"]],
  ["We love rock'n'roll", 'rock and roll', ["rock'n'roll"]],
  ['Likes rock & roll', "rock'n'roll", ['rock', 'roll']],
  ["Miss O'Brien", 'obrien', ["O'Brien"]],
  ["Why don't you", 'dont', ["don't"]],
  ['Three mice ran', 'mouse', ['mice']],
  ['A child plays', 'children', ['child']],
  // Words with the signs beside them, which the query finds with and without.
  ['Learn C# today', 'c#', ['C#']],
  ['Learn C# today', 'C', ['C']],
  ['Learn C today', 'C#', ['C']],
  ['Learn C++17 today', '"C++ 17"', ['C++', '17']],
  ['Learn C++ today', '"c today"', ['C', 'today']],
  ['The ASP.NET handbook', '.NET', ['NET']],
  ['Post with #Search tag', '#search', ['#Search']],
  ['Read by @jane today', 'jane', ['jane']],
  ['Use ．NET here', '.net', ['．NET']],
  // Initials and abbreviations.
  ['The U.S. economy', 'us', ['U.S']],
  ['The US economy', 'U.S.', ['US']],
  ['At 10 a.m. today', '10 am', ['10', 'a.m']],
  ['By J.K. Rowling', 'J. K. Rowling', ['J.K', 'Rowling']],
  ['By JK Rowling', 'J. K. Rowling', ['JK', 'Rowling']],
  ['The RD department', 'R&D', ['RD']],
  // Numbers, initials and names are not split.
  ['Version 4.2 costs 3.5', '4.2', ['4.2']],
  ['Version 4.2 costs 3.5', '42', null],
  ['Version 4.2 costs 3.5', '2', null],
  ['In the U.S.A. today', 'usa', ['U.S.A']],
  ['In the U.S.A. today', 's', null],
  ['A JavaScript file', 'java', null],
  ['An iPhone call', 'phone', null],
  // The parts of two words, or of two fields, do not form a phrase.
  ['mail.jane and doe.mail', '"jane doe"', null],
];

interface Response {
  readonly results: readonly { readonly name: string; readonly highlights: Record<string, string> }[];
}

/**
 * Texts in other languages, by the language tag of the list: a text of one word or a few, and a query that finds it.
 */
const LANGUAGES: Readonly<Record<string, readonly (readonly [text: string, query: string])[]>> = {
  ar: [
    ['أحمد', 'احمد'],
    ['مُحَمَّد', 'محمد'],
    ['الكتاب', 'كتاب'],
    ['مكتبـــة', 'مكتبه'],
    ['کتاب', 'كتاب'],
    ['٢٠٢٤', '2024'],
    ['ﻛﺘﺎﺏ', 'كتاب'],
  ],
  fa: [
    ['كتاب علي', 'کتاب علی'],
    ['می‌خواهم', 'میخواهم'],
    ['۱۴۰۳', '1403'],
    ['خانهٔ', 'خانه'],
    ['کتاب‌ها', 'کتاب'],
    ['کتابهای خوب', 'كتاب'],
    ['خانه‌های بزرگتر', 'خانه بزرگ'],
  ],
  he: [
    ['שָׁלוֹם', 'שלום'],
    ['צה״ל', 'צהל'],
    ['תל־אביב', 'תל אביב'],
    ['הבית', 'בית'],
    ['ספרים', 'ספר'],
    ['הספרים החדשים', 'ספר חדש'],
    ['נעליים', 'נעל'],
  ],
  hi: [
    ['हिन्दी', 'हिंदी'],
    ['किताबें', 'किताब'],
    ['२०२४', '2024'],
  ],
  bn: [
    ['২০২৪', '2024'],
    ['কো', 'কো'],
  ],
  ta: [
    ['சென்னையில்', 'சென்னை'],
    ['௨௦௨௪', '2024'],
  ],
  th: [
    ['ฉันรักภาษาไทย', 'ภาษาไทย'],
    ['กรุงเทพมหานคร', 'กรุงเทพ'],
    ['น้ํา', 'น้ำ'],
    ['ซื้อiPhoneใหม่', 'iphone'],
  ],
  km: [
    ['ប្រទេសកម្ពុជា', 'កម្ពុជា'],
    ['២០២៤', '2024'],
  ],
  my: [
    ['ရန်ကုန်မြို့', 'ရန်ကုန်'],
    ['၂၀၂၄', '2024'],
  ],
  ja: [
    ['東京タワー', '東京'],
    ['ﾄｳｷｮｳ', 'とうきょう'],
    ['サーバ', 'サーバー'],
    ['コンピューター', 'コンピュータ'],
    ['ヴァイオリン', 'バイオリン'],
    ['１００円', '100'],
  ],
  ko: [
    ['서울에서', '서울'],
    ['부산'.normalize('NFD'), '부산'],
    ['데이터베이스', '데이터 베이스'],
    ['KBS뉴스', '뉴스'],
  ],
  zh: [
    ['清华大学', '清華'],
    ['臺灣', '台湾'],
    ['ＡＢＣ公司', 'abc'],
  ],
  ru: [
    ['ёлка', 'елка'],
    ['книгами', 'КНИГА'],
    ['интернет-магазин', 'интернетмагазин'],
  ],
  uk: [
    ['м’ята', "м'ята"],
    ['КИЇВ', 'київ'],
    ['книги', 'книга'],
    ['у книзі', 'книга'],
    ['телефонів', 'телефон'],
    ['жіноче взуття', 'жіночий'],
    ['квартири у Львові', 'квартира'],
    ['роботу', 'робота'],
    ['котів', 'кіт'],
  ],
  bg: [
    ['книги', 'книга'],
    ['книгата', 'книги'],
    ['столове', 'стол'],
    ['червената рокля', 'червени рокли'],
    ['телефоните', 'телефон'],
    ['градовете', 'град'],
  ],
  el: [
    ['ΛΟΓΟΣ', 'λόγος'],
    ['Ἀθῆναι', 'αθηναι'],
    ['άνθρωποι', 'άνθρωπος'],
  ],
  tr: [
    ['İstanbul', 'istanbul'],
    ['ISPARTA', 'ısparta'],
    ["İzmir'de", 'izmir'],
    ['kitaplar', 'kitap'],
  ],
  az: [
    ['İlham', 'ilham'],
    ['ƏLİ', 'əli'],
  ],
  pl: [
    ['ŁÓDŹ', 'lodz'],
    ['książki', 'książka'],
    ['Najlepsze książki', 'ksiazka'],
    ['o dobrej książce', 'książki'],
    ['kurtki zimowe', 'kurtka zimowa'],
    ['buty', 'but'],
    ['mieszkania w Warszawie', 'mieszkanie Warszawa'],
    ['telefonów', 'telefon'],
    ['okularów', 'okulary'],
    ['rowerze', 'rower'],
  ],
  cs: [
    ['Příliš žluťoučký', 'prilis zlutoucky'],
    ['knihy', 'kniha'],
    ['v knize', 'kniha'],
    ['červené boty', 'červená bota'],
    ['hodinek', 'hodinky'],
    ['byty v Praze', 'byt Praha'],
    ['telefonů', 'telefon'],
  ],
  sl: [
    ['knjige', 'knjiga'],
    ['v knjigi', 'knjige'],
    ['rdeči čevlji', 'rdeč'],
    ['telefonov', 'telefon'],
  ],
  sk: [
    ['knihy', 'kniha'],
    ['topánok', 'topánky'],
    ['červené tričká', 'červené tričko'],
    ['v škole', 'škola'],
    ['žien', 'žena'],
  ],
  hu: [
    ['könyvek', 'konyv'],
    ['Győr', 'gyor'],
  ],
  fi: [['taloissa', 'talo']],
  hr: [
    ['knjige', 'knjiga'],
    ['Čakovec', 'cakovec'],
    ['o knjizi', 'knjige'],
    ['stanovi u Zagrebu', 'stan Zagreb'],
    ['nove cipele', 'nova cipela'],
  ],
  sr: [
    ['књиге', 'књига'],
    ['о књизи', 'knjiga'],
    ['станови у Београду', 'стан Београд'],
  ],
  de: [
    ['Straße', 'STRASSE'],
    ['Häuser', 'Haus'],
    ['Müller', 'mueller'],
    ['Krankenversicherung', 'Versicherung'],
  ],
  fr: [
    ['L’ÉCOLE', 'ecole'],
    ['cœur', 'coeur'],
    ['chevaux', 'cheval'],
    ["aujourd'hui", 'aujourd’hui'],
  ],
  es: [
    ['niños', 'nino'],
    ['luces', 'luz'],
    ['canciones', 'cancion'],
  ],
  pt: [
    ['ações', 'acao'],
    ['animais', 'animal'],
    ['pães', 'pão'],
  ],
  it: [
    ["dell'acqua", 'acqua'],
    ['città', 'citta'],
    ['ragazze', 'ragazza'],
  ],
  vi: [
    ['Đà Nẵng', 'da nang'],
    ['tiếng Việt'.normalize('NFD'), 'tiếng việt'],
  ],
};

let fixtures: ListFixtures;
const stores = new RecordStoreCache();
const reader = new StoreRecordReader(stores);
const executor = new SearchExecutor(kernel, reader);

beforeAll(async () => {
  fixtures = await listFixtures();
});
afterAll(async () => {
  await stores.close();
  await fixtures.close();
});

it('Searches find the words that people expect, and highlight them', async () => {
  const texts = [...new Set(PAIRS.map(([text]) => text))];
  const list = await listOf('en', texts);
  const found = PAIRS.map(([text, query]): Pair => [text, query, marked(list, `${texts.indexOf(text)}`, query)]);
  expect(found).toEqual(PAIRS);
});

it('Searches find what speakers of each language expect, and highlight whole characters', async () => {
  const missed: string[] = [];
  for (const [language, pairs] of Object.entries(LANGUAGES)) {
    const list = await listOf(
      language,
      pairs.map(([text]) => text),
    );
    pairs.forEach(([text, query], index) => {
      const marks = marked(list, `${index}`, query);
      if (marks === null || marks.length === 0) missed.push(`${language}: ${query} of ${text}`);
      // A combining mark of a letter is no character by itself.
      if (marks?.some((mark) => /^\p{M}/u.test(mark))) missed.push(`${language}: half of a character of ${text}`);
    });
  }
  expect(missed).toEqual([]);
});

it('Inflected forms from suffix tables match in phrases, synonyms, typos and match=all', async () => {
  const texts = ['nowe książki', 'nowa książka', 'tani rower', 'kurtki', 'jednoślad', 'kurtka'];
  const records = texts.map((text, index) => ({ name: `${index}`, text }));
  const list = await fixtures.add('shop', { ...DEFINITION, language: 'pl' }, records, {
    language: 'pl',
    synonym_rules: [{ kind: 'equivalent', terms: ['rower', 'jednoślad'] }],
  });
  const found = (query: string, options: Partial<SearchOptions> = {}) =>
    resultsOf(list, { query, size: 10, ...options }).map(({ name }) => name);
  // The record with the form as typed ranks first.
  expect([found('książka'), found('książki')]).toEqual([
    ['1', '0'],
    ['0', '1'],
  ]);
  expect(found('książki', { match: 'phrase' })).toEqual(['0']);
  expect(found('rowery')).toContain('2');
  expect(found('jednośladów')).toContain('4');
  expect(found('rower').toSorted()).toEqual(['2', '4']);
  // A correction also brings the other forms of the corrected word.
  expect(found('kurtkaa').toSorted()).toEqual(['3', '5']);
  expect(found('książk', { match: 'all' }).toSorted()).toEqual(['0', '1']);
});

function listOf(language: string, texts: readonly string[]): Promise<ListIndex> {
  const records = texts.map((text, index) => ({ name: `${index}`, text }));
  return fixtures.add(`pairs-${language}`, { ...DEFINITION, language }, records, { language });
}

/** Returns the texts that are highlighted in the record for the query; null if the record is no hit. */
function marked(list: ListIndex, name: string, query: string): readonly string[] | null {
  const match = query.startsWith('"') ? 'phrase' : 'all';
  const results = resultsOf(list, { query: query.replaceAll('"', ''), match, size: 1000, typo_tolerance: false });
  const hit = results.find((result) => result.name === name);
  if (hit === undefined) return null;
  const html = (hit.highlights['text'] ?? '').replaceAll('&#39;', "'");
  return [...html.matchAll(/<em>(.*?)<\/em>/gu)].map(([, text = '']) => text);
}

function resultsOf(list: ListIndex, options: SearchOptions): Response['results'] {
  const writer = new ResponseWriter();
  executor.execute(searchTask({ list }, options), writer);
  reader.release();
  return (JSON.parse(Buffer.from(writer.take()).toString()) as Response).results;
}
