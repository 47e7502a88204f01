import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openCatalog } from '../../src/catalog/index.js';
import { openEnvironment, systemClock } from '../../src/platform/index.js';
import {
  SYNONYM_CHARACTERS_OF_LIST_MAX,
  SYNONYM_TERM_CHARACTERS_MAX,
  SYNONYM_TERMS_MAX,
} from '../../src/synonyms/index.js';
import { startTestService, type TestService } from '../support/service.js';

interface SearchBody {
  readonly total_count: number;
  readonly results: readonly { readonly name: string }[];
}
interface Candidate {
  readonly abbreviation: string;
  readonly sense: string;
  readonly record_count: number;
  readonly examples: readonly string[];
}
interface Preview {
  readonly changes_nothing: boolean;
  readonly words: readonly {
    readonly word: string;
    readonly before: SearchBody;
    readonly after: SearchBody;
    readonly added: number;
  }[];
}

/** Sentences as in abstracts of papers. */
const PAPERS = [
  { name: 'p1', text: 'We study magnetic resonance imaging (MRI) of the human brain at 7 tesla.' },
  { name: 'p2', text: 'Functional Magnetic Resonance Imaging (MRI) reveals activity; see also the MRI of 2004.' },
  { name: 'p3', text: 'The magneto-rotational instability (MRI) drives accretion in discs.' },
  {
    name: 'p4',
    text: 'A support vector machine (SVM) is trained; SVM (support vector machine) classifiers generalise.',
  },
  { name: 'p5', text: 'Support vector machines (SVMs) separate classes by a margin.' },
  { name: 'p6', text: 'The scanner (a machine) was cold (see Figure 3) and loud.' },
  { name: 'p7', text: 'A tomograph was installed.' },
];

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.client.post('/list/default', { name: 'papers', searchable_fields: [{ name: 'text' }] });
  await service.client.bulk('default', 'papers', PAPERS);
});
afterAll(() => service.close());
beforeEach(() => put([]));

function put(rules: readonly unknown[], list = 'papers') {
  return service.client.put(`/list/synonyms/default/${list}`, { rules });
}
async function found(query: string, options: Readonly<Record<string, string>> = {}, path = '/search/default/papers/1') {
  const { body } = await service.client.get(path, { query, ...options });
  return (body as SearchBody).results.map(({ name }) => name).sort();
}

const SCANNERS = { kind: 'equivalent', terms: ['scanner', 'tomograph'] };

describe('PUT /list/synonyms', () => {
  it('replaces all rules, which can be read back and apply from the next search', async () => {
    expect(await found('scanner')).toEqual(['p6']);
    expect(await put([SCANNERS])).toMatchObject({ status: 200, body: { rules: [SCANNERS] } });
    expect((await service.client.get('/list/synonyms/default/papers')).body).toEqual({ rules: [SCANNERS] });
    expect((await service.client.get('/list/default/papers')).body).toMatchObject({ synonym_rules: [SCANNERS] });
    expect(await found('scanner')).toEqual(['p6', 'p7']);
    expect(await found('tomograph', { match: 'all' })).toEqual(['p6', 'p7']);
    expect(await found('tomograph', { match: 'phrase' })).toEqual(['p6', 'p7']);
    await put([]);
    expect(await found('scanner')).toEqual(['p6']);
  });

  it('accepts one-way rules, and phrases that match across their words', async () => {
    await put([
      { kind: 'rewrite', terms: ['scanner'], replace_with: ['tomograph'] },
      { kind: 'rewrite', terms: ['brain pictures'], replace_with: ['magnetic resonance imaging'] },
    ]);
    expect(await found('scanner')).toEqual(['p6', 'p7']);
    expect(await found('tomograph')).toEqual(['p7']);
    expect(await found('brain pictures', { match: 'phrase' })).toEqual(['p1', 'p2']);
  });

  it('means every writing of a term in which letters meet digits, in the query and in records', async () => {
    await service.client.post('/list/default', { name: 'tools', searchable_fields: [{ name: 'text' }] });
    const texts = [
      'XR-500 drill',
      'XR500 saw',
      'XR 500 lamp',
      'gizmo',
      'XR 600',
      'a 5 mm nail',
      'one of five millimetres',
    ];
    await service.client.bulk(
      'default',
      'tools',
      texts.map((text) => ({ name: text, text })),
    );
    const tools = (query: string, match: string) => found(query, { match }, '/search/default/tools/1');
    const writings = ['XR 500 lamp', 'XR-500 drill', 'XR500 saw'];
    for (const term of ['xr500', 'XR-500', 'xr 500']) {
      await put([{ kind: 'equivalent', terms: [term, 'gizmo'] }], 'tools');
      for (const match of ['any', 'all', 'phrase']) {
        expect(await tools('gizmo', match), `${term} ${match}`).toEqual([...writings, 'gizmo']);
        for (const query of ['xr500', 'XR-500', 'xr 500'])
          expect(await tools(query, match), `${term} ${match} ${query}`).toEqual(
            expect.arrayContaining([...writings, 'gizmo']) as string[],
          );
      }
    }
    await put([{ kind: 'rewrite', terms: ['five millimetres'], replace_with: ['5mm'] }], 'tools');
    expect(await tools('five millimetres', 'all')).toEqual(['a 5 mm nail', 'one of five millimetres']);
    expect(await tools('5mm', 'all')).toEqual(['a 5 mm nail']);
  });

  it('means a word also if the query has a hyphen in it', async () => {
    await service.client.bulk('default', 'papers', [{ name: 'p8', text: 'a wireless lan' }]);
    await put([{ kind: 'equivalent', terms: ['wifi', 'wireless lan'] }]);
    expect(await found('wi-fi')).toEqual(['p8']);
    expect(await found('wifi')).toEqual(['p8']);
  });

  it('applies in a search of a group only to that list', async () => {
    await service.client.post('/list/default', { name: 'notes', searchable_fields: [{ name: 'text' }] });
    await service.client.bulk('default', 'notes', [{ name: 'n1', text: 'a tomograph' }]);
    await service.client.post('/list-group/default', { name: 'texts', lists: [{ list: 'papers' }, { list: 'notes' }] });
    const group = '/search/group/default/texts/latest';
    expect(await found('scanner', {}, group)).toEqual(['p6']);
    await put([SCANNERS]);
    expect(await found('scanner', {}, group)).toEqual(['p6', 'p7']);
    await put([SCANNERS], 'notes');
    expect(await found('scanner', {}, group)).toEqual(['n1', 'p6', 'p7']);
  });

  it('changes rules independently of a copy of the list', async () => {
    await put([SCANNERS]);
    await service.client.post('/list/default/papers/clone', { name: 'copy' });
    await put([]);
    expect((await service.client.get('/list/synonyms/default/copy')).body).toEqual({ rules: [SCANNERS] });
    expect(await found('scanner', {}, '/search/default/copy/1')).toEqual(['p6', 'p7']);
    expect(await found('scanner')).toEqual(['p6']);
  });

  it('keeps the rules over a restart', async () => {
    await put([SCANNERS]);
    await service.stop();
    await service.start();
    expect(await found('scanner')).toEqual(['p6', 'p7']);
  });

  it('has the same rules as the member synonym_rules of the list', async () => {
    const body = { name: 'with-rules', searchable_fields: [{ name: 'text' }], synonym_rules: [SCANNERS] };
    expect((await service.client.post('/list/default', body)).status).toBe(201);
    const list = await service.client.get('/list/default/with-rules');
    expect(list.body).toMatchObject({ synonym_rules: [SCANNERS] });
    expect((await service.client.put('/list/default/with-rules', list.body)).status).toBe(200);
    expect(
      await service.client.put('/list/default/with-rules', { synonym_rules: [{ ...SCANNERS, terms: ['a,b', 'c'] }] }),
    ).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/synonym_rules/0/terms/0' }] },
    });
  });

  it("accepts the rules that an older release accepted, even if they exceed today's limit for a list", async () => {
    const term = (number: number) => `${number} `.padEnd(SYNONYM_TERM_CHARACTERS_MAX, 'x');
    const terms = Array.from({ length: SYNONYM_TERMS_MAX }, (_, number) => term(number));
    const characters = SYNONYM_TERMS_MAX * SYNONYM_TERM_CHARACTERS_MAX;
    const length = Math.floor(SYNONYM_CHARACTERS_OF_LIST_MAX / characters) + 1;
    const rules = Array.from({ length }, () => ({ kind: 'equivalent' as const, terms }));
    const body = { name: 'older', searchable_fields: [{ name: 'text' }] };
    expect((await service.client.post('/list/default', body)).status).toBe(201);
    await service.stop();
    const environment = openEnvironment(join(service.dataDir, 'system'), { kind: 'system' });
    const catalog = await openCatalog(environment, systemClock);
    await catalog.updateList('default', 'older', { synonym_rules: rules });
    await environment.close();
    await service.start();
    const { body: list } = await service.client.get('/list/default/older');
    expect((await service.client.put('/list/default/older', list)).status).toBe(200);
    const { body: read } = await service.client.get('/list/synonyms/default/older');
    expect(read).toEqual({ rules });
    expect((await service.client.put('/list/synonyms/default/older', read)).status).toBe(200);
    expect((await put([...rules, SCANNERS], 'older')).status).toBe(400);
  });

  it.each<[string, unknown, string]>([
    ['an empty term', { kind: 'equivalent', terms: ['a', ' '] }, '/rules/0/terms/1'],
    ['a comma', { kind: 'equivalent', terms: ['a', 'b,c'] }, '/rules/0/terms/1'],
    ['an arrow ->', { kind: 'equivalent', terms: ['a -> b', 'c'] }, '/rules/0/terms/0'],
    ['an arrow =>', { kind: 'equivalent', terms: ['a => b', 'c'] }, '/rules/0/terms/0'],
    ['an arrow →', { kind: 'equivalent', terms: ['a → b', 'c'] }, '/rules/0/terms/0'],
    ['a #', { kind: 'equivalent', terms: ['c#', 'd'] }, '/rules/0/terms/0'],
    ['half of a surrogate pair', { kind: 'equivalent', terms: ['a\ud83d', 'd'] }, '/rules/0/terms/0'],
    ['a backslash', { kind: 'equivalent', terms: ['a\\b', 'd'] }, '/rules/0/terms/0'],
    ['a term without a word', { kind: 'equivalent', terms: ['!!', 'd'] }, '/rules/0/terms/0'],
    ['one term that is equivalent to nothing', { kind: 'equivalent', terms: ['a'] }, '/rules/0/terms'],
    ['one term twice', { kind: 'equivalent', terms: ['Café', 'cafe'] }, '/rules/0/terms'],
    [
      'an equivalent rule with replace_with',
      { kind: 'equivalent', terms: ['a', 'b'], replace_with: ['c'] },
      '/rules/0/replace_with',
    ],
    ['a rewrite without replace_with', { kind: 'rewrite', terms: ['a'] }, '/rules/0/replace_with'],
    ['a rewrite of nothing', { kind: 'rewrite', terms: [], replace_with: ['a'] }, '/rules/0/terms'],
    [
      'a bad word in replace_with',
      { kind: 'rewrite', terms: ['a'], replace_with: ['b', 'c,d'] },
      '/rules/0/replace_with/1',
    ],
    ['another kind', { kind: 'same', terms: ['a', 'b'] }, '/rules/0/kind'],
    ['an unknown member', { kind: 'equivalent', terms: ['a', 'b'], weight: 1 }, '/rules/0/weight'],
  ])('refuses %s and keeps the rules in force', async (_what, rule, pointer) => {
    await put([SCANNERS]);
    const answer = await put([rule]);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-parameter' } });
    expect((answer.body as { errors: { pointer: string }[] }).errors[0]?.pointer).toBe(pointer);
    expect((await service.client.get('/list/synonyms/default/papers')).body).toEqual({ rules: [SCANNERS] });
  });

  it('accepts 20,000 rules', async () => {
    const rules = Array.from({ length: 20_000 }, (_, index) => ({
      kind: 'equivalent',
      terms: [`word${index}`, `other${index}`, `a phrase of ${index}`],
    }));
    expect((await put([...rules.slice(1), SCANNERS])).status).toBe(200);
    expect(await found('scanner')).toEqual(['p6', 'p7']);
    expect((await put([...rules, SCANNERS])).status).toBe(400);
  });

  it('needs the permission synonym:update, and reading needs synonym:read', async () => {
    const reader = await service.clientFor({ permissions: ['synonym:read'] });
    expect((await reader.get('/list/synonyms/default/papers')).status).toBe(200);
    expect((await reader.put('/list/synonyms/default/papers', { rules: [] })).status).toBe(403);
  });
});

describe('GET /list/synonym-candidates', () => {
  it('finds abbreviations with their long forms, one for each meaning, with the records that spell them out', async () => {
    const { body } = await service.client.get('/list/synonym-candidates/default/papers');
    const { supported, candidates } = body as { supported: boolean; candidates: readonly Candidate[] };
    expect(supported).toBe(true);
    expect(
      candidates.map(({ abbreviation, sense, record_count }) => [abbreviation, sense.toLowerCase(), record_count]),
    ).toEqual([
      ['MRI', 'magnetic resonance imaging', 2],
      ['SVM', 'support vector machine', 2],
      ['MRI', 'magneto-rotational instability', 1],
    ]);
    expect(candidates[0]?.examples).toEqual(['p1', 'p2']);
  });

  it('finds those of records that were written since', async () => {
    await service.client.post('/list/default', { name: 'growing', searchable_fields: [{ name: 'text' }] });
    const path = '/list/synonym-candidates/default/growing';
    expect((await service.client.get(path)).body).toEqual({ supported: true, candidates: [] });
    await service.client.bulk('default', 'growing', [{ name: 'g', text: 'the World Health Organization (WHO)' }]);
    expect((await service.client.get(path)).body).toMatchObject({
      candidates: [{ abbreviation: 'WHO', sense: 'World Health Organization', record_count: 1, examples: ['g'] }],
    });
  });
});

describe('POST /list/synonym-preview', () => {
  const preview = async (rule: unknown) => {
    const answer = await service.client.post('/list/synonym-preview/default/papers', rule);
    expect(answer.status).toBe(200);
    return answer.body as Preview;
  };

  it('searches each word without and with the rule, and saves nothing', async () => {
    const { changes_nothing, words } = await preview(SCANNERS);
    expect(changes_nothing).toBe(false);
    expect(words.map(({ word, before, after, added }) => [word, before.total_count, after.total_count, added])).toEqual(
      [
        ['scanner', 1, 2, 1],
        ['tomograph', 1, 2, 1],
      ],
    );
    expect(words[0]?.after.results.map(({ name }) => name).sort()).toEqual(['p6', 'p7']);
    expect((await service.client.get('/list/synonyms/default/papers')).body).toEqual({ rules: [] });
    expect(await found('scanner')).toEqual(['p6']);
  });

  it('says if a rule changes nothing', async () => {
    expect(await preview({ kind: 'equivalent', terms: ['qwertz', 'azerty'] })).toMatchObject({ changes_nothing: true });
    await put([SCANNERS]);
    const { changes_nothing, words } = await preview(SCANNERS);
    expect(changes_nothing).toBe(true);
    // The rule is added to those in force, and does not replace them.
    expect(words[0]?.before.total_count).toBe(2);
  });

  it('shows that a rewrite works in one direction', async () => {
    const { words } = await preview({ kind: 'rewrite', terms: ['scanner'], replace_with: ['tomograph'] });
    expect(words.map(({ word, added }) => [word, added])).toEqual([['scanner', 1]]);
  });

  it('refuses a rule that could not be saved', async () => {
    const answer = await service.client.post('/list/synonym-preview/default/papers', {
      kind: 'equivalent',
      terms: ['a', 'b,c'],
    });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/terms/1' }] } });
  });
});

describe('a key that may read the rules and no records', () => {
  it('is told how many records a rule adds and what abbreviations mean, and neither shown records nor their names', async () => {
    const key = await service.clientFor({ access: 'custom', permissions: ['synonym:read'] });
    const rule = { kind: 'equivalent', terms: ['scanner', 'tomograph'] };
    const path = '/list/synonym-preview/default/papers';
    const whole = (await service.client.post(path, rule)).body as Preview;
    const { status, text, body } = await key.post(path, rule);
    expect(status, text).toBe(200);
    const counts = ({ changes_nothing, words }: Preview) => [
      changes_nothing,
      words.map(({ word, before, after, added }) => [word, before.total_count, after.total_count, added]),
    ];
    expect(counts(body as Preview)).toEqual(counts(whole));
    const hits = ({ words }: Preview) => words.flatMap(({ before, after }) => [...before.results, ...after.results]);
    expect(hits(whole)).not.toEqual([]);
    expect(hits(body as Preview)).toEqual([]);

    const { candidates } = (await key.get('/list/synonym-candidates/default/papers')).body as {
      candidates: readonly Candidate[];
    };
    expect(candidates.map(({ abbreviation, examples }) => [abbreviation, examples])).toEqual([
      ['MRI', []],
      ['SVM', []],
      ['MRI', []],
    ]);
  });
});
