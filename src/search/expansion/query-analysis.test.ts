/** What each word of a query may stand for besides itself, by the words of a real list: the limits and the exceptions. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listFixtures, type ListFixtures } from '../../../test/support/lists.js';
import { alternatives, analysed, wordsOf } from '../../../test/support/query-analysis.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { ListIndex, SearchSettings } from '../../index/index.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [{ name: 'text', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
  language: 'none',
};

let fixtures: ListFixtures;
let lists = 0;
beforeAll(async () => {
  fixtures = await listFixtures();
});
afterAll(() => fixtures.close());

/** By default of no language: words have no other forms, and none is a function word. */
function listOf(texts: readonly string[], language = 'none', more: Partial<SearchSettings> = {}): Promise<ListIndex> {
  const records = texts.map((text, index) => ({ name: `${index}`, text }));
  return fixtures.add(`list-${(lists += 1)}`, { ...DEFINITION, language }, records, { language, ...more });
}

const times = (count: number, text: string) => Array.from({ length: count }, () => text);
/** Returns what the first word of the query stands for besides itself. */
const others = (list: ListIndex, query: string) => alternatives(list, query)[0]?.slice(1);

describe('a word that is split in two', () => {
  it('is split where records have the parts next to each other, by the most frequent of the four likeliest pairs', async () => {
    // Nowhere next to each other, from the likeliest to the rarest.
    const apart = (word: string) =>
      [1, 2, 3, 4, 5].flatMap((place) => times(9 - place, `${word.slice(0, place)} sea ${word.slice(place)}`));
    const list = await listOf([
      ...['bcdfgh', 'klmnpq', 'rstvwx'].flatMap(apart),
      'klmn pq',
      'rstvw x',
      ...['bc dfgh', 'bcd fgh'],
      ...['hj klmn', ...times(3, 'hjk lmn')],
    ]);
    expect(others(list, 'bcdfgh')).toEqual(['split: bc dfgh']);
    expect(others(list, 'hjklmn')).toEqual(['split: hjk lmn']);
    expect(others(list, 'klmnpq')).toEqual(['split: klmn pq']);
    expect(others(list, 'rstvwx')).toEqual([]);
  });

  it('is split unless it is more frequent than the rarer part', async () => {
    const list = await listOf(['bath room', 'bath', ...times(2, 'cup board'), ...times(2, 'bathroom cupboard')]);
    expect(others(list, 'cupboard')).toEqual(['split: cup board']);
    expect(others(list, 'bathroom')).toEqual([]);
  });

  it('has 4 to 32 letters', async () => {
    const [short, long, longer] = ['b'.repeat(15), 'c'.repeat(16), 'd'.repeat(17)];
    const list = await listOf(['ab c', 'ab cd', `${short} ${longer}`, `${long} ${longer}`]);
    expect(others(list, 'abc')).toEqual([]);
    expect(others(list, 'abcd')).toEqual(['split: ab cd']);
    expect(others(list, short + longer)).toEqual([`split: ${short} ${longer}`]);
    expect(others(list, long + longer)).toEqual([]);
  });

  it('is not split if it is in more than 1000 records', async () => {
    const list = await listOf(times(1001, 'abcd ab cd'));
    const often = await listOf(times(1000, 'abcd ab cd'));
    expect([others(list, 'abcd'), others(often, 'abcd')]).toEqual([[], ['split: ab cd']]);
  });

  it('consists of letters alone', async () => {
    const list = await listOf(['500 600', 'ab cd']);
    expect([others(list, '500600'), others(list, 'abcd')]).toEqual([[], ['split: ab cd']]);
  });

  it('consists of no function word', async () => {
    const list = await listOf(['a part of the sea', 'the sea of grass', 'bath room'], 'en');
    expect(others(list, 'apart')).toEqual([]);
    expect(others(list, 'seaof')).toEqual([]);
    expect(others(list, 'bathroom')).toEqual(['split: bath room']);
  });

  it('has a mark between the parts where the list has it, and then no other two parts', async () => {
    const list = await listOf(['node.js', 'first_name', 'x.men', 'vitamin_d', 'nod ejs', 'nod ejs', 'xm en']);
    expect(others(list, 'nodejs')).toEqual(['split: node js', 'spelling: node.js', 'split: nod ejs']);
    expect(others(list, 'firstname')).toEqual(['split: first name', 'spelling: first_name']);
    // A part of one letter is not indexed.
    expect(others(list, 'xmen')).toEqual(['spelling: x.men', 'split: xm en']);
    expect(others(list, 'vitamind')).toEqual(['spelling: vitamin_d']);
    expect(others(list, 'node.net')).toEqual([]);
  });

  it('is one of the first 64 words', async () => {
    const list = await listOf(['bath room', 'node.js', 'wifi', "rock'n'roll rock roll"]);
    const [one, two] = [63, 64].map((count) => Array.from({ length: count }, (_, number) => `w${number}`).join(', '));
    const last = (query: string) => alternatives(list, query).at(-1)?.slice(1);
    expect(last(`${one}, bathroom`)).toEqual(['split: bath room']);
    expect(last(`${two}, bathroom`)).toEqual([]);
    expect(last(`${one}, node.js`)).toEqual(['split: node js']);
    expect(last(`${two}, node.js`)).toEqual(['spelling: node js']);
    expect(last(`${one}, wi fi`)).toEqual(['spelling: wifi']);
    expect(last(`${two}, wi fi`)).toEqual([]);
    expect(last(`${one}, rock n roll`)?.[0]).toBe("spelling: rock'n'roll");
    expect(last(`${two}, rock n roll`)).toEqual([]);
  });
});

describe('a word with marks that were left out', () => {
  it('is written as initials', async () => {
    const texts = [
      'U.S.',
      'U.SA',
      'US.A',
      'U.S.A',
      'X.BCDE',
      'A.B.C.D.E',
      'A.B.C.D.E.F.G.H',
      'A.B.C.D.E.F.G.H.I',
      'O.F',
    ];
    const list = await listOf(texts, 'en');
    expect(others(list, 'us')).toEqual(['spelling: u.s']);
    expect(others(list, 'usa')).toEqual(['spelling: u.sa', 'spelling: us.a', 'spelling: u.s.a']);
    expect(others(list, 'abcde')).toEqual(['spelling: a.b.c.d.e']);
    expect(others(list, 'xbcde')).toEqual(['spelling: x.bcde']);
    expect(others(list, 'abcdefgh')).toEqual(['spelling: a.b.c.d.e.f.g.h']);
    expect(others(list, 'abcdefghi')).toEqual([]);
    expect(others(list, 'of')).toEqual([]);
  });

  it('has an apostrophe behind its first or second letter, or before a t', async () => {
    const list = await listOf(["o'brien", "de'ath", "mac'ready", "don't", "of'fer", "a'xy", "can't", "ban'd"]);
    expect(others(list, 'obrien')).toEqual(["spelling: o'brien"]);
    expect(others(list, 'death')).toEqual(["spelling: de'ath"]);
    expect(others(list, 'macready')).toEqual([]);
    expect(others(list, 'cant')).toEqual(["spelling: can't"]);
    expect(others(list, 'band')).toEqual([]);
    // A word that is too short, and letters that are a function word.
    expect(others(list, 'axy')).toEqual([]);
    expect(others(list, 'offer')).toEqual(["spelling: of'fer"]);
    expect(others(await listOf(["of'fer"], 'en'), 'offer')).toEqual([]);
  });
});

describe('two words with a blank', () => {
  it('are one word, also with a point, unless one is a function word or has a digit', async () => {
    const list = await listOf(['wifi', 'x.men', 'node.js', 'apart', 'café.bar', 'nodejs'], 'en');
    expect(others(list, 'wi fi')).toEqual(['spelling: wifi']);
    expect(others(list, 'wi, fi')).toEqual([]);
    expect(others(list, 'wi-fi')).toEqual(['spelling: wifi']);
    expect(others(list, 'x men')).toEqual(['spelling: x.men']);
    // It is indexed by these parts.
    expect(others(list, 'node js')).toEqual(['spelling: nodejs']);
    expect(others(list, 'a part')).toEqual([]);
  });

  it('are one word that is not too rare beside them', async () => {
    const list = await listOf([
      ...times(64, 'wi - fi'),
      'wifi',
      ...times(64, 'bath - room'),
      ...times(2, 'bathroom'),
      'son roomson',
    ]);
    expect(others(list, 'wi fi')).toEqual([]);
    expect(others(list, 'bath room')).toEqual(['spelling: bathroom']);
    // The rarer one counts.
    expect(others(list, 'room son')).toEqual(['spelling: roomson']);
  });
});

describe('letters and digits', () => {
  it('are joined and cut where they meet, at most three words and four places', async () => {
    const list = await listOf([
      'xr500',
      'xr 500',
      'ab1cd',
      'a1b2c',
      'a1b2',
      'a1 b2c3d4',
      'a1b2c3 d4',
      'x1y2z3 x1y2z',
      '500600',
    ]);
    expect(others(list, 'xr 500')).toEqual(['spelling: xr500']);
    expect(others(list, 'xr500')).toEqual(['spelling: xr 500']);
    expect(others(list, 'ab 1 cd')).toEqual(['spelling: ab1cd']);
    expect(others(list, '500 600')).toEqual([]);
    expect(others(list, '500-600')).toEqual([]);
    expect(others(list, 'xr, 500')).toEqual([]);
    // Of four words, the first three.
    expect(others(list, 'a1 b 2 c')).toEqual(['spelling: a1b2']);
    // At more places, all are joined or none is.
    expect(others(list, 'x1y2z 3')).toEqual(['spelling: x1y2z3']);
    expect(others(list, 'a1b2c3d4')).toEqual([]);
    expect(others(list, 'x1y2 z3')).toEqual(['spelling: x1y2z3']);
  });

  it('are looked up in at most 1024 ways', async () => {
    // Each of these words has 15 other ways, and 68 of them have 1020.
    const words = Array.from(
      { length: 69 },
      (_, number) => `a1b2${'cdefghijk'[number % 9]}${'lmnopqrst'[Math.floor(number / 9)]}`,
    );
    const list = await listOf(words.map((word) => `a 1 b 2 ${word.slice(4)}`));
    const found = alternatives(list, words.join(', '));
    expect(found.map(({ length }) => length)).toEqual([...times(68, '').map(() => 2), 1]);
  });
});

it('Letters that a mark joins are initials, with a blank behind the point at most', async () => {
  const list = await listOf(['j.k rowling', 'a.b', 'ab', 'x.men', 'xr.z', 'de.fg']);
  expect(others(list, 'J. K. Rowling')).toEqual(['spelling: j.k']);
  expect(others(list, 'A/B')).toEqual(['spelling: a.b', 'spelling: ab']);
  expect(others(list, 'x-men')).toEqual(['spelling: x.men']);
  // Such a word is indexed by its parts.
  expect(others(list, 'de-fg')).toEqual([]);
  const joints = (text: string) => wordsOf(text).map(({ joint }) => joint);
  expect(joints('J. K')).toEqual(['tight', 'apart']);
  expect(joints('J.  K')).toEqual(['apart', 'apart']);
  expect(joints('Jo. K')).toEqual(['apart', 'apart']);
  expect(joints('J. Ko')).toEqual(['apart', 'apart']);
  expect(joints('J, K')).toEqual(['apart', 'apart']);
  expect(joints('J K')).toEqual(['blank', 'apart']);
  expect(joints('J--K')).toEqual(['tight', 'apart']);
  expect(joints('J---K')).toEqual(['apart', 'apart']);
});

describe('and between two words', () => {
  const ALL = ['split: rock n roll', 'split: rock and roll', 'split: rock roll'];

  it('is written in all ways if n stands for it, in one word or between them', async () => {
    const list = await listOf(["rock'n'roll", 'rock', 'roll', 'salt', 'pepper', "drum'n bass"]);
    expect(others(list, "rock'n'roll")).toEqual(ALL);
    expect(others(list, 'rock n roll')).toEqual(["spelling: rock'n'roll", ...ALL]);
    expect(others(list, 'rock and roll')).toEqual(["spelling: rock'n'roll", ...ALL.slice(0, 2)]);
    // Without the joined word, only n is taken for a conjunction.
    expect(others(list, 'salt n pepper')).toEqual([
      'split: salt n pepper',
      'split: salt and pepper',
      'split: salt pepper',
    ]);
    expect(others(list, 'salt and pepper')).toEqual([]);
    expect(others(list, 'salt n roll')?.[0]).toBe('split: salt n roll');
    expect(others(list, 'salt n vinegar')).toEqual([]);
    expect(others(list, 'vinegar n salt')).toEqual([]);
    expect(others(list, 'rock or roll n')).toEqual([]);
    expect(others(list, "rock'nroll")).toEqual(["spelling: rock'n'roll", ...ALL]);
    // One letter is no word.
    const short = await listOf(["r'n'bass", "bass'n'r", 'r bass']);
    expect([others(short, "r'n'bass"), others(short, "bass'n'r")]).toEqual([[], []]);
  });

  it('is in the joined word alone if the list lacks one of the two', async () => {
    const list = await listOf(["rock'n'roll", 'rock']);
    expect(others(list, 'rock n roll')).toEqual(["spelling: rock'n'roll"]);
    expect(others(list, 'rock and roll')).toEqual(["spelling: rock'n'roll"]);
    expect(others(list, "rock'n'roll")).toEqual([]);
  });
});

describe('signs', () => {
  it('make groups of their own for what the list has', async () => {
    const list = await listOf(['C# and F# and .NET', 'R&D and A/B at AT&T', 'b c d', 'AB-123 to R-DEF']);
    const groups = (query: string, wordsMax = 1000) =>
      alternatives(list, query, { wordsMax }).flatMap(([first = '', ...more]) => (more.length === 0 ? [first] : []));
    const signed = (query: string, wordsMax?: number) =>
      groups(query, wordsMax).filter((each) => /#|net|&| /.test(each.slice(7)));
    expect(signed('C# D# F# C#')).toEqual(['typed: c#', 'typed: f#']);
    expect(signed('C# F#', 3)).toEqual(['typed: c#']);
    expect(signed('C# F#', 2)).toEqual([]);
    expect(signed('R&D')).toEqual(['typed: r d']);
    expect(groups('R&D to')).toEqual(['typed: r', 'typed: d', 'typed: to', 'typed: r d']);
    expect(signed('R&Z')).toEqual([]);
    expect(signed('AT&T')).toEqual(['typed: at t']);
    expect(signed('AB-123')).toEqual(['typed: ab 123']);
    expect(signed('R-DEF')).toEqual([]);
  });

  it('make a second phrase if the list has each of them', async () => {
    const list = await listOf(['C# and F# in .NET', 'c and d']);
    const phrases = (query: string) => alternatives(list, query, { match: 'phrase' }).map(([first]) => first);
    expect(phrases('C# and F#')).toEqual(['typed: c and f', 'typed: c# and f#']);
    expect(phrases('C# and D#')).toEqual(['typed: c and d']);
    expect(phrases('c and f')).toEqual(['typed: c and f']);
  });
});

describe('synonyms', () => {
  it('of a word with a plus stand beside those of the word without it, and each is told once', async () => {
    const synonym_rules = [
      { kind: 'equivalent', terms: ['C++', 'cpp'] },
      { kind: 'equivalent', terms: ['C', 'cee'] },
      { kind: 'equivalent', terms: ['fast', 'quick'] },
    ];
    const list = await listOf(['nothing of these'], 'none', { synonym_rules });
    expect(analysed(list, 'fast C++').synonyms).toEqual([
      { word: 'fast', terms: ['quick'], rules: [2] },
      { word: 'c++', terms: ['cpp'], rules: [0] },
      { word: 'c', terms: ['cee'], rules: [1] },
    ]);
    expect(alternatives(list, 'fast C++').slice(0, 2)).toEqual([
      ['typed: fast', 'synonym: quick'],
      ['typed: c', 'synonym: cpp', 'synonym: cee'],
    ]);
    expect(analysed(list, 'fast C').synonyms.map(({ word }) => word)).toEqual(['fast', 'c']);
  });

  it('are those of the words in other writings too, told once, and come in other writings after all terms', async () => {
    const synonym_rules = [
      { kind: 'equivalent', terms: ['xr-500', 'bit'] },
      { kind: 'equivalent', terms: ['wifi', 'lan 5g'] },
    ];
    const list = await listOf(['x'], 'none', { synonym_rules });
    for (const query of ['xr500', 'xr 500', 'XR-500'])
      expect(analysed(list, query).synonyms, query).toMatchObject([{ terms: ['bit'], rules: [0] }]);
    expect(analysed(list, 'xr, 500').synonyms).toMatchObject([{ word: 'xr 500' }]);
    expect(others(list, 'bit')).toEqual(['synonym: xr 500', 'synonym: xr500']);
    expect(analysed(list, 'wi-fi').synonyms).toEqual([{ word: 'wi fi', terms: ['lan 5g'], rules: [1] }]);
    expect(analysed(list, 'wi fi').synonyms).toEqual([]);
    expect(others(list, 'wifi')).toEqual(['synonym: lan 5g', 'synonym: lan5g', 'synonym: lan5 g', 'synonym: lan 5 g']);
  });

  it('of several writings are told together, and none is the query itself', async () => {
    const synonym_rules = [
      { kind: 'equivalent', terms: ['xr500', 'xr-500', 'bit'] },
      { kind: 'equivalent', terms: ['xr 500', 'chisel'] },
    ];
    const list = await listOf(['x'], 'none', { synonym_rules });
    for (const query of ['xr500', 'xr 500', 'XR-500']) {
      const { synonyms } = analysed(list, query);
      const other = query === 'xr500' ? 'xr 500' : 'xr500';
      expect(synonyms.map(({ rules, terms }) => [rules, new Set(terms)])).toEqual([
        [[0, 1], new Set([other, 'bit', 'chisel'])],
      ]);
      const found = others(list, query);
      expect(found).toEqual(expect.arrayContaining(['synonym: bit', 'synonym: chisel', `synonym: ${other}`]));
      expect(found).not.toContain(`synonym: ${query.replace('XR-', 'xr ')}`);
    }
  });

  it('of a phrase take precedence over those of what is in it in other writings', async () => {
    const synonym_rules = [
      { kind: 'equivalent', terms: ['xr 500 drill', 'hammer'] },
      { kind: 'equivalent', terms: ['xr500', 'gizmo'] },
      { kind: 'equivalent', terms: ['500', 'd'] },
    ];
    const list = await listOf(['x'], 'none', { synonym_rules });
    const told = (query: string) => analysed(list, query).synonyms.map(({ word, terms }) => [word, ...terms]);
    for (const query of ['xr 500 drill', 'XR-500 drill']) expect(told(query)).toEqual([['xr 500 drill', 'hammer']]);
    expect(told('xr500 drill')).toEqual([['xr500 drill', 'hammer']]);
    for (const query of ['xr 500', 'XR-500 saw']) expect(told(query)).toEqual([['xr 500', 'gizmo']]);
    expect(told('drill, xr, 500, gizmo')).toEqual([
      ['500', 'd'],
      ['gizmo', 'xr500'],
    ]);
  });

  it('are also those of terms that have other words beside the one in another writing', async () => {
    const list = (term: string) =>
      listOf(['x'], 'none', { synonym_rules: [{ kind: 'equivalent', terms: [term, 'gizmo'] }] });
    const writings = ['bosch xr500 drill', 'bosch xr 500 drill'];
    for (const term of [...writings, 'Bosch XR-500 drill']) {
      const known = await list(term);
      for (const query of ['bosch xr500 drill', 'bosch xr 500 drill', 'Bosch XR-500 drill']) {
        expect(analysed(known, `red ${query} here`).synonyms, `${term} ${query}`).toMatchObject([
          { word: query.toLowerCase().replace('-', ' '), terms: ['gizmo'], rules: [0] },
        ]);
      }
      expect(others(known, 'gizmo')).toEqual(expect.arrayContaining(writings.map((each) => `synonym: ${each}`)));
      expect(analysed(known, 'bosch xr 600 drill').synonyms).toEqual([]);
      expect(analysed(known, 'bosch, xr 500').synonyms).toEqual([]);
    }
  });

  it('bring the first 256 of their terms', async () => {
    const terms = Array.from({ length: 300 }, (_, number) => `synonym${number}`);
    const list = await listOf(['x'], 'none', {
      synonym_rules: [{ kind: 'rewrite', terms: ['word'], replace_with: terms }],
    });
    expect(analysed(list, 'word').synonyms[0]?.terms).toHaveLength(256);
    expect(others(list, 'word')).toHaveLength(256);
  });

  it('bring their own other forms, and none of what consists of several words', async () => {
    const synonym_rules = [{ kind: 'rewrite', terms: ['sofa'], replace_with: ['couch', 'day bed'] }];
    const list = await listOf(['couches', 'couch', 'day', 'days', 'bed', 'beds', 'sofa'], 'en', { synonym_rules });
    expect(others(list, 'sofa')).toEqual(['synonym: couch', 'synonym: day bed', 'synonym: couches']);
  });

  it('bring at most four other forms, none of which is of another word of the query', async () => {
    const synonym_rules = [
      { kind: 'rewrite', terms: ['sofa'], replace_with: ['day bed'] },
      { kind: 'rewrite', terms: ['light'], replace_with: ['day'] },
      { kind: 'rewrite', terms: ['join'], replace_with: ['connect'] },
    ];
    const forms = ['connects', 'connected', 'connecting', 'connection', 'connections'];
    const list = await listOf(['day days', 'bed', ...forms], 'en', { synonym_rules });
    expect(alternatives(list, 'sofa light')).toEqual([
      ['typed: sofa', 'synonym: day bed'],
      ['typed: light', 'synonym: day', 'synonym: days'],
    ]);
    expect(others(list, 'join')).toHaveLength(1 + 4);
  });
});

describe('a word that is searched again', () => {
  it('stands for what the words beside it make of it each time', async () => {
    const synonym_rules = [{ kind: 'equivalent', terms: ['big apple', 'york'] }];
    const list = await listOf(['wi wifi fi', 'big apple york', 'bathroom bath room'], 'none', { synonym_rules });
    for (let time = 0; time < 2; time += 1) {
      expect(others(list, 'wi')).toEqual([]);
      expect(others(list, 'wi fi')).toEqual(['spelling: wifi']);
      expect(others(list, 'big')).toEqual([]);
      expect(others(list, 'big apple')).toEqual(['synonym: york']);
      expect(others(list, 'bathroom')).toEqual(['split: bath room']);
      expect(others(list, 'york')).toEqual(['synonym: big apple']);
      // Beside 64 words it is not split.
      const many = Array.from({ length: 64 }, (_, number) => `w${number}`).join(', ');
      expect(alternatives(list, `${many}, bathroom`).at(-1)).toEqual(['typed: bathroom']);
      // In two places, one of which is in a longer span.
      expect(others(list, 'wi fi, wi')).toEqual(['spelling: wifi']);
      expect(others(list, 'wi, wi fi')).toEqual(['spelling: wifi']);
    }
  });

  it('has fewer other terms beside more words', async () => {
    const syllables = Array.from({ length: 100 }, (_, number) => String.fromCodePoint(0xac00 + 28 * number));
    const list = await listOf([`서울 ${syllables.map((syllable) => `서울${syllable} ${syllable}`).join(' ')}`]);
    const many = Array.from({ length: 999 }, (_, number) => `w${number}`).join(' ');
    for (let time = 0; time < 2; time += 1) {
      expect(others(list, '서울')).toHaveLength(100);
      expect(others(list, `서울 ${many}`)).toHaveLength(59);
    }
  });

  // A change of the language takes effect before the list is built anew for it.
  it('has no longer words once it is a function word', async () => {
    const list = await listOf(['서울 서울시 시']);
    const given = (functionWords: ReadonlySet<string>) => alternatives(list, '서울', { functionWords })[0];
    for (let time = 0; time < 2; time += 1) {
      expect(given(new Set())).toEqual(['typed: 서울', 'compound: 서울시']);
      expect(given(new Set(['서울']))).toEqual(['typed: 서울']);
    }
  });
});
