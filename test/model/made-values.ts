/** Generates values that are valid but hostile, from pools small enough that records share them. */
import type { SeededRandom } from '../support/random.js';
import type { Stray } from './operations.js';
import type { GivenVectors, Vector } from './reference-vectors.js';
import type { FacetDefinition, FacetType, Point, Scalar, Value } from './reference-values.js';

const LONG = 'gannet '.repeat(90).trim();

const TEXTS = [
  ...[
    '',
    ' ',
    'a',
    'A',
    'b',
    'B',
    'ab',
    'a ',
    ' a',
    'null',
    'true',
    '0',
    '1',
    '10',
    '9',
    '-1',
    '2026-11-21',
    "it's",
    '"',
    "''",
    '\\',
    '%',
    '`',
  ],
  ...[
    "a' or 'a' = 'a",
    'price > 5',
    '<em>a</em>',
    '&amp;',
    '\u0000',
    'a\u0000b',
    '\n',
    'ä',
    'a\u0308',
    'É',
    'é',
    'ß',
    'ẞ',
    'SS',
    'ﬁ',
    'FI',
  ],
  ...[
    'σ',
    'ς',
    'Σ',
    'ΟΔΟΣ',
    'οδος',
    'i',
    'I',
    'İ',
    'Ǆ',
    'ǆ',
    '\u{1F600}',
    '\u{10400}',
    '\u{10428}',
    '\uFFFD',
    '\uE000',
    '\uFEFF',
    '\u200D',
  ],
  ...['日本', 'עברית', 'العربية', 'ไทย', '\u202Ea', 'K', 'k', 'a,b', 'a;b', '__proto__', 'constructor', LONG],
];
/** Lone surrogates, combining marks in either order, joined emoji, and right-to-left text. */
const BORDER_TEXTS = [
  ...['\uD800', 'a\uDC00', '\uDBFFa', 'e\u0301\u0323', 'e\u0323\u0301', '\u1EB9\u0301', '\u212B', '\u00C5', 'A\u030A'],
  ...['\u{1F469}\u200D\u{1F469}\u200D\u{1F467}', '\u{1F1E9}\u{1F1EA}', '\u{1F44D}\u{1F3FD}', '\u2028', '\u0085'],
  ...[
    '\uFDFA',
    // S with marks, followed by a letter: alone it could match the end of a word, since separate query words also match
    // them written together.
    '\u1E9B\u0323a',
    'क्षि',
    'שָׁלוֹם',
    '\u200Fa\u200E',
    '\u{10FFFF}',
    '\uFFFE',
    '[',
    '["a"]',
    'a|b',
    '=1',
    'word'.repeat(800),
  ],
];
TEXTS.push(...BORDER_TEXTS);
const NUMBERS = [
  ...[0, 1, -1, 2, 3, 10, 100, 1.5, 0.1, 0.2, 0.30000000000000004, 0.3, 1e21, 1e-7, 1e308, -1e308, 5e-324, -5e-324],
  ...[
    2 ** 31,
    2 ** 32,
    2 ** 53 - 1,
    2 ** 53,
    2 ** 53 + 2,
    -(2 ** 53),
    2 ** 53 - 2,
    2 ** 63,
    -0.1,
    123_456_789_012_345_680_000,
    1.7976931348623157e308,
    2.2250738585072014e-308,
  ],
];
const DATES = [
  ...[
    '2026-11-21',
    '2026-11-21T00:00:00Z',
    '2026-11-21T05:54:00.000Z',
    '2026-11-21T07:54:00+02:00',
    '2026-11-20T23:59:59.999Z',
  ],
  ...[
    '2026-11-22',
    '0001-01-01',
    '0000-01-01',
    '9999-12-31',
    '9999-12-31T23:59:59.999Z',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01',
  ],
  ...[
    '2026-11-21T00:00:00+14:00',
    '2026-11-21T00:00:00-12:00',
    '2026-11-21T23:59:59.999-23:59',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59.999+00:01',
    '2026-11-21T05:54Z',
    '2026-11-21t05:54:00z',
    '2026-11-21 05:54:00Z',
    '2016-12-31T22:59:60-01:00',
  ],
  ...['2024-02-29', '2016-12-31T23:59:60Z', '2026-11-21T05:54:00.1239Z', '1582-10-10', '2026-11-21T05:54:00-00:00'],
];
/** Values of fields whose type changes: texts that convert to other types, and texts that almost do. */
const CHANGING: readonly Scalar[] = [
  ...[
    '12',
    '12.50',
    ' 7 ',
    '007',
    '-3',
    'abc',
    '',
    'true',
    'FALSE',
    '1',
    '0',
    '2026-11-21',
    '2026-13-01',
    '1234567890123456',
  ],
  ...[12.5, 0, 1, 7, -3, 0.5, 1e21, true, false],
];
const POINTS: readonly Point[] = [
  ...[0, 90, -90].map((latitude) => ({ latitude, longitude: 0 })),
  ...[180, -180, 179.999, -179.999].map((longitude) => ({ latitude: 0, longitude })),
  { latitude: 51.5, longitude: -0.12 },
  { latitude: 51.51, longitude: -0.12 },
  { latitude: 51.5, longitude: -0.13 },
  { latitude: 89.9, longitude: 120 },
  { latitude: 89.9, longitude: -60 },
  ...[90, -90].flatMap((latitude) => [180, -180, 45].map((longitude) => ({ latitude, longitude }))),
  { latitude: 5e-324, longitude: -5e-324 },
  { latitude: 89.999_999, longitude: 180 },
  { latitude: -51.5, longitude: 179.88 },
];
/** Some words are a typo away from others; none is two others written together. */
export const WORDS =
  `gannet ganet gannte gannets puffin puffni albatross albatros albtaross labatros kittiwake fulmar fulmer tern auk skua
  shag gull gulls r2 r22 sea cliff cliffs the of`.split(/\s+/);

const CAPTURED = ['a', 'b', 'null', 'true', 'false', '0', '1', '2', '10'];

const POOLS: Readonly<Record<FacetType, readonly Scalar[]>> = {
  string: TEXTS,
  number: NUMBERS,
  boolean: [true, false],
  date: DATES,
};
/** Vectors of length 3, some of extreme magnitude or in equal directions; zeros and the last ones fit no list. */
const VECTORS: readonly Vector[] = [
  ...[
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 0.1, 0],
    [1, 0, 0.1],
    [0.9, 0.3, 0.1],
    [0.1, 1, 0],
    [0, 0.1, 1],
    [0.5, 0.5, 0.5],
  ],
  ...[
    [-1, 0, 0],
    [0, -1, 0.2],
    [0.2, 0.1, -1],
    [10, 1, 0],
    [0.3, 0.3, 0.29],
    [1e-20, 0, 1e-21],
    [3e38, 0, 3e38],
  ],
  ...[
    [1e-40, 1e-40, 0],
    [0, 0, -5e-324],
    [0, 0, 0],
    [1e39, 0, 0],
    [1, 0],
  ],
];
/** Names that reach the maximum length once a digit is appended. */
const LONG_NAMES = ['n', '日', '\u{1F600}'].map((character) => character.repeat(511));
const TOO_LONG = '\u{1F600}'.repeat(513);
const STRAYS: readonly Stray[] = [
  ...['5', 'null', '"r1"', '[]', 'true', '[{"name":"r1"}]'].map((text) => ({ text, name: null })),
  ...['7', '{}', '[]', 'true'].map((name) => ({ text: `{"name":${name},"title":"x"}`, name: null })),
  { text: '{"name":"r1","title":{"a":1}}', name: 'r1' },
  { text: '{"name":"r1","fields":{"title":[["a"]]}}', name: 'r1' },
  { text: '{"name":"r1","fields":{"title":"a"},"stray":1}', name: 'r1' },
  { text: '{"name":"r1","fields":{"place":{"latitude":91,"longitude":0}}}', name: 'r1' },
  { text: '{"name":"r1","title":"a"', name: null, isNoJson: true },
  { text: 'r1', name: null, isNoJson: true },
  { text: '{"name":"r1","price":01}', name: null, isNoJson: true },
  { text: '', name: null, isNoJson: true, isBlank: true },
  { text: ' \t', name: null, isNoJson: true, isBlank: true },
  { text: `{"name":"${TOO_LONG}"}`, name: TOO_LONG },
  { text: '{"name":"","title":"a"}', name: '' },
];
const FITTING_VECTORS = 17;
const ODD_VECTOR_EVERY = 60;
const VECTORS_MAX = 4;
const MANY_VECTORS = 30;
const MANY_MAX = 5;
const CHANGING_TYPES = ['string', 'string', 'number', 'boolean'];

export class MadeValues {
  constructor(private readonly random: SeededRandom) {}

  scalar(type: FacetType): Scalar {
    const pool = POOLS[type];
    // Half of the values come from the first few, so that records share them.
    return this.random.below(2) === 0 ? this.random.pick(pool.slice(0, 5)) : this.random.pick(pool);
  }

  /** Returns a value of the facet, or null for none. */
  facetValue({ type, cardinality }: FacetDefinition): Value | null {
    if (this.random.below(5) === 0) return null;
    if (cardinality === 'Single') return this.random.below(3) === 0 ? [this.scalar(type)] : this.scalar(type);
    if (this.random.below(40) === 0) return Array.from({ length: 300 }, () => this.scalar(type));
    return Array.from({ length: this.random.below(MANY_MAX) }, () => this.scalar(type));
  }

  /** Returns a value for a field whose type changes; it fits the current type only sometimes. */
  changingValue(): Value | null {
    const one = () => this.random.pick(CHANGING);
    const type = this.random.pick(CHANGING_TYPES);
    const some = CHANGING.filter((value) => typeof value === type);
    const drawn = this.random.below(5);
    if (drawn === 0) return null;
    if (drawn === 1) return Array.from({ length: this.random.below(MANY_MAX) }, one);
    return drawn === 2 ? [this.random.pick(some)] : this.random.pick(some);
  }

  text(): string {
    const parts = Array.from({ length: this.random.below(8) }, () =>
      this.random.below(6) === 0 ? this.random.pick(TEXTS) : this.random.pick(WORDS),
    );
    return parts.join(this.random.pick([' ', ' ', ', ', '\n', ' - ']));
  }

  vector(): Vector {
    const fits = this.random.below(ODD_VECTOR_EVERY) > 0;
    if (fits && this.random.below(3) === 0)
      return Array.from({ length: 3 }, () => this.random.below(201) / 100 - 1.003);
    return this.random.pick(fits ? VECTORS.slice(0, FITTING_VECTORS) : VECTORS.slice(FITTING_VECTORS));
  }

  vectors(): GivenVectors | undefined {
    const drawn = this.random.below(10);
    if (drawn === 0) return null;
    if (drawn < 4) return undefined;
    if (drawn < 8) return [this.vector()];
    const length = this.random.below(this.random.below(10) === 0 ? MANY_VECTORS : VECTORS_MAX);
    return Array.from({ length }, () => this.vector());
  }

  /** Returns a line of a bulk call that is no record. */
  stray(): Stray {
    return this.random.pick(STRAYS);
  }

  point(): Point {
    return this.random.pick(POINTS);
  }

  word(): string {
    return this.random.pick(WORDS);
  }

  /** Returns a query word that may be a facet value. */
  captured(): string {
    return this.random.pick(CAPTURED);
  }

  /** Returns a record name. Names that differ only in case are different names. */
  name(): string {
    const number = this.random.below(24);
    if (this.random.below(40) === 0) return `${this.random.pick(LONG_NAMES)}${number % 3}`;
    const odd = [
      'a/b/',
      '%',
      '%00',
      '.',
      'ﬁ',
      'K',
      '\u212A',
      '\u0000',
      '\n',
      '#',
      '&size=0',
      '',
      ' ',
      '/',
      '%2F',
      '?',
      "'",
      'é',
      'e\u0301',
      '日本',
      '\u{1F600}',
      '..',
      '__proto__',
    ];
    return this.random.below(4) === 0
      ? `${this.random.pick(odd)}${number % 4}`
      : `${number % 5 === 0 ? 'R' : 'r'}${number}`;
  }
}
