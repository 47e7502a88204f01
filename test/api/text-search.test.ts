/** Tests text in many languages and scripts over the API, and query rules, which turn parts of a query into filters. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

interface SearchBody {
  readonly total_count: number;
  readonly results: readonly { readonly name: string; readonly highlights: Readonly<Record<string, string>> }[];
  readonly applied: { readonly query_rules: string[]; readonly synonyms: unknown[]; readonly typos: unknown[] };
}

/** Language of the list, text of a record, and queries that must find it, each with the word that is highlighted. */
const TEXTS: [string, string, Record<string, string>][] = [
  ['en', 'The ponies were running', { run: 'running', PONY: 'ponies' }],
  ['de', 'Die Häuser der Straße', { hauser: 'Häuser', strasse: 'Straße', haus: 'Häuser' }],
  ['fr', 'Les élèves étaient fatigués', { eleves: 'élèves', fatigue: 'fatigués' }],
  ['es', 'Canciones españolas', { cancion: 'Canciones', espanola: 'españolas' }],
  ['it', 'Le ragazze italiane', { ragazza: 'ragazze' }],
  ['pt', 'Corações partidos', { coracoes: 'Corações', partido: 'partidos' }],
  ['nl', 'Een mooie fietstocht', { mooi: 'mooie' }],
  ['sv', 'Stora hästar', { hast: 'hästar' }],
  ['no', 'Store båter på fjorden', { bater: 'båter', fjord: 'fjorden' }],
  ['da', 'Røde hunde', { rode: 'Røde', hund: 'hunde' }],
  ['fi', 'Suuret talot', { talo: 'talot' }],
  ['ru', 'Ёжик и красивые книги', { ежик: 'Ёжик', книга: 'книги' }],
  ['hu', 'Szép házak', { hazak: 'házak', szep: 'Szép' }],
  ['ro', 'Frumoase cărți', { carti: 'cărți' }],
  ['tr', 'Güzel kitaplar', { guzel: 'Güzel', kitap: 'kitaplar' }],
  ['ca', 'Les cançons noves', { cancons: 'cançons' }],
  ['id', 'Membaca surat kabar', { SURAT: 'surat' }],
  ['ar', 'قرأت الكِتَاب الجديد', { الكتاب: 'الكِتَاب' }],
  ['el', 'Ωραία βιβλία', { ωραια: 'Ωραία', ΒΙΒΛΙΑ: 'βιβλία' }],
  ['he', 'שָׁלוֹם עולם', { שלום: 'שָׁלוֹם' }],
  ['fa', 'کتاب فارسی', { فارسی: 'فارسی' }],
  ['hi', 'नई किताबें', { किताबें: 'किताबें' }],
  ['th', 'ฉันชอบกินอาหารไทย', { อาหาร: 'อาหาร' }],
  ['zh', '北京大学图书馆', { 大学: '大学', 北京: '北京' }],
  ['ja', '東京の美術館に行きました', { 美術館: '美術館' }],
  ['ko', '서울 박물관', { 박물관: '박물관' }],
  ['vi', 'Phở bò Hà Nội', { pho: 'Phở', noi: 'Nội' }],
  ['pl', 'Żółta łódź', { zolta: 'Żółta', lodz: 'łódź' }],
  ['cs', 'Příliš žluťoučký kůň', { zlutoucky: 'žluťoučký', kun: 'kůň' }],
  ['uk', 'Київський університет', { УНІВЕРСИТЕТ: 'університет' }],
  ['none', 'Party 🎉 👍🏽 time', { '🎉': '🎉', '👍': '👍🏽' }],
  ['none', 'ﬁne Ｆｕｌｌｗｉｄｔｈ ①', { fine: 'ﬁne', fullwidth: 'Ｆｕｌｌｗｉｄｔｈ', '1': '①' }],
];

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

async function search(list: string, options: Record<string, unknown>): Promise<SearchBody> {
  const answer = await service.client.post(`/search/default/${list}/1`, options);
  expect(answer.status, answer.text).toBe(200);
  return answer.body as SearchBody;
}

describe('text of a record', () => {
  it('is found without its diacritics, in another case, and inflected, in each language', async () => {
    expect(new Set(TEXTS.map(([language]) => language)).size).toBeGreaterThan(25);
    for (const [index, [language, text, queries]] of TEXTS.entries()) {
      const name = `text-${index}`;
      const fields = { searchable_fields: [{ name: 'text' }] };
      const made = await service.client.post('/list/default', { name, language, ...fields });
      expect(made.status, made.text).toBe(201);
      await service.client.post(`/search-result/default/${name}`, { name: 'other', fields: { text: 'zzz qqq' } });
      await service.client.post(`/search-result/default/${name}`, { name: 'it', fields: { text } });
      for (const [query, marked] of Object.entries(queries)) {
        for (const match of ['any', 'all']) {
          const { results } = await search(name, { query, match, typo_tolerance: false });
          expect(
            results.map((result) => result.name),
            `${language} ${query}`,
          ).toEqual(['it']);
          expect(results[0]?.highlights['text'], `${language} ${query}`).toContain(`<em>${marked}</em>`);
        }
      }
      const whole = await search(name, { query: text, match: 'phrase' });
      expect(whole.total_count, `${language} as a phrase`).toBe(1);
    }
  });
});

describe('query rules', () => {
  const RULES = [
    { name: 'postcode', pattern: String.raw`\b([A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})\b`, filter: 'postcode = $1' },
    { name: 'order', pattern: String.raw`\border #?(?P<number>\S+)`, filter: 'number = ${number}', keep: false },
  ];
  const FIELDS = {
    searchable_fields: [{ name: 'title' }],
    facets: [
      { name: 'postcode', type: 'string' },
      { name: 'number', type: 'number' },
    ],
  };
  const names = async (query: string) => (await search('orders', { query })).results.map(({ name }) => name);

  beforeAll(async () => {
    await service.client.post('/list/default', { name: 'orders', ...FIELDS });
    await service.client.bulk('default', 'orders', [
      { name: 'london', title: 'Pizza', postcode: 'SW1A 1AA', number: 7 },
      { name: 'leeds', title: 'Pizza', postcode: 'LS1 1UR', number: 8 },
    ]);
  });

  it('apply from the next search until the next change', async () => {
    expect(await names('pizza SW1A 1AA')).toHaveLength(2);
    const stored = await service.client.put('/list/default/orders', { query_rules: RULES });
    expect(stored).toMatchObject({ status: 200, body: { query_rules: RULES, current_version: 1 } });
    const found = await search('orders', { query: 'pizza sw1a 1aa' });
    expect(found).toMatchObject({
      total_count: 1,
      results: [{ name: 'london' }],
      applied: { query_rules: ['postcode'] },
    });
    expect(await names('order #8')).toEqual(['leeds']);
    expect((await service.client.get('/list/default/orders')).body).toMatchObject({ query_rules: RULES });

    await service.client.post('/list/default/orders/clone', { name: 'orders-copy' });
    expect((await search('orders-copy', { query: 'order 7' })).results).toMatchObject([{ name: 'london' }]);
    await service.client.put('/list/default/orders', { query_rules: [] });
    expect(await names('pizza SW1A 1AA')).toHaveLength(2);
  });

  it('never let a query inject a filter', async () => {
    await service.client.put('/list/default/orders', {
      query_rules: [{ name: 'all', pattern: '^code (.*)$', filter: "postcode = '$1'" }],
    });
    for (const text of ["x' or number > 0 or postcode = 'x", 'x" or number > 0', "') or (number > 0", '$1', 'null']) {
      const { total_count, applied } = await search('orders', { query: `code ${text}` });
      expect({ total_count, applied: applied.query_rules }, text).toEqual({ total_count: 0, applied: ['all'] });
    }
    expect(await names('code ls1 1ur')).toEqual(['leeds']);
  });

  it.each<[string, object, string]>([
    ['a pattern that is none', { pattern: '(' }, '/query_rules/0/pattern'],
    ['a look-ahead', { pattern: '(?=x)' }, '/query_rules/0/pattern'],
    ['an unknown facet', { filter: 'colour = $1' }, '/query_rules/0/filter'],
    ['an unknown group', { filter: 'number = $3' }, '/query_rules/0/filter'],
    ['a broken filter', { filter: 'number =' }, '/query_rules/0/filter'],
    ['no name', { name: '' }, '/query_rules/0/name'],
    ['an unknown member', { flags: 'i' }, '/query_rules/0/flags'],
  ])('are refused for %s', async (_what, change, pointer) => {
    const rule = { name: 'rule', pattern: '(a)', filter: 'number = $1', ...change };
    const updated = await service.client.put('/list/default/orders', { query_rules: [rule] });
    expect(updated).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
    const created = await service.client.post('/list/default', { name: 'refused', ...FIELDS, query_rules: [rule] });
    expect(created).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  });
});
