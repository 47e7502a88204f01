/**
 * Every assertion of Google's published tests of its own reader of robots.txt (github.com/google/robotstxt,
 * robots_test.cc at commit 22b355f), in rows of our own, with those that do not hold for this reader, and why. `says`:
 * `+/path` may be crawled, `-/path` may not. Assertions of that reader about what it counts are shown here by the
 * effect of the counted lines.
 */
import { describe, expect, it } from 'vitest';
import { readRobotsFile } from './robots-file.js';
import { originAndTarget, pageUrl } from '../urls/page-url.js';

interface Row {
  readonly file: string | Uint8Array;
  readonly crawler?: string;
  readonly says: string;
  /** The number of assertions that the row shows; by default, one for each path. */
  readonly shows?: number;
}

interface Published {
  readonly name: string;
  readonly assertions: number;
  readonly rows: readonly Row[];
  /** The number of assertions that do not hold here, and why. */
  readonly without?: readonly [count: number, why: string];
}

const ALL_OFF = 'user-agent: FooBot\ndisallow: /\n';
const allowing = (pattern: string) => `${ALL_OFF}allow: ${pattern}\n`;
const named = (name: string) => `user-agent: ${name}\ndisallow: /\n`;
/** Returns the same row for several crawlers. */
const each = (crawlers: readonly string[], row: Row): Row[] => crawlers.map((crawler) => ({ ...row, crawler }));

const GROUPS =
  'allow: /foo/bar/\n\nuser-agent: FooBot\ndisallow: /\nallow: /x/\nuser-agent: BarBot\ndisallow: /\nallow: /y/\n\n\nallow: /w/\nuser-agent: BazBot\n\nuser-agent: FooBot\nallow: /z/\ndisallow: /\n';
const WITH_SITEMAP = 'User-agent: BarBot\nSitemap: https://a.example/map\nUser-agent: *\nDisallow: /\n';
const WITH_UNKNOWN = 'User-agent: FooBot\nNo-Such-Line: unknown\nUser-agent: *\nDisallow: /\n';
const TWO_WORDS = 'User-Agent: *\nDisallow: /\nUser-Agent: Foo Bar\nAllow: /x/\nDisallow: /\n';
const GLOBAL = 'user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n';
const SPECIFIC = `user-agent: FooBot\nallow: /\n${named('BarBot')}${named('BazBot')}`;

/** The length up to which a line is read; `filling` makes a value that fills the rest of the line after `key`. */
const LINE_BYTES = 2083 * 8;
const filling = (key: string, letter: string) => `/x/${letter.repeat(LINE_BYTES - key.length - 5)}`;
const [LONG, LONG_A, LONG_B] = [filling('disallow: ', 'a'), filling('allow: ', 'a'), filling('allow: ', 'b')];

const FOR_FOO_AND_BAR = ['User-Agent: foo', 'Disallow: /some/path', 'User-Agent: bar', '', '', 'Disallow: /'];
const ENDS: readonly (readonly string[])[] = [
  ['\n', '\n', '\n', '\n', '\n', '\n'],
  ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n'],
  ['\r', '\r', '\r', '\r', '\r', '\r'],
  ['\n', '\n', '\n', '\n', '\n', ''],
  ['\n', '\r\n', '\n', '\r\n', '\n', ''],
];
const FOR_FOO = 'User-Agent: foo\nDisallow: /any\n';
const behind = (...bytes: number[]) => Buffer.concat([Buffer.from(bytes), Buffer.from(FOR_FOO)]);
const MARK = [0xef, 0xbb, 0xbf];

/** URLs with a scheme, and what rules are compared with. */
const TARGETS: readonly (readonly [url: string, target: string])[] = [
  ['http://www.example.com', '/'],
  ['http://www.example.com/', '/'],
  ['http://www.example.com/a', '/a'],
  ['http://www.example.com/a/', '/a/'],
  ['http://www.example.com/a/b?c=http://d.e/', '/a/b?c=http://d.e/'],
  ['http://www.example.com/a/b?c=d&e=f#fragment', '/a/b?c=d&e=f'],
];

const targetOf = (url: string) => originAndTarget(pageUrl(url) ?? '').target;

const PUBLISHED: readonly Published[] = [
  {
    name: 'GoogleOnly_SystemTest',
    assertions: 4,
    rows: [
      { file: '', says: '+/' },
      { file: ALL_OFF, crawler: '', says: '+/' },
      { file: ALL_OFF, says: '-/' },
      { file: '', crawler: '', says: '+/' },
    ],
  },
  {
    name: 'ID_LineSyntax_Line',
    assertions: 3,
    rows: [
      { file: ALL_OFF, says: '-/x/y' },
      { file: 'foo: FooBot\nbar: /\n', says: '+/x/y' },
    ],
    without: [1, 'a documented leniency: a line of which the colon is missing is read as if it had one'],
  },
  {
    name: 'ID_LineSyntax_Groups',
    assertions: 10,
    rows: [
      { file: GROUPS, says: '+/x/b +/z/d -/y/c -/foo/bar/' },
      { file: GROUPS, crawler: 'BarBot', says: '+/y/c +/w/a -/z/d -/foo/bar/' },
      { file: GROUPS, crawler: 'BazBot', says: '+/z/d -/foo/bar/' },
    ],
  },
  {
    name: 'ID_LineSyntax_Groups_OtherRules',
    assertions: 4,
    rows: [WITH_SITEMAP, WITH_UNKNOWN].flatMap((file) => each(['FooBot', 'BarBot'], { file, says: '-/' })),
  },
  {
    name: 'ID_REPLineNamesCaseInsensitive',
    assertions: 6,
    rows: ['USER-AGENT ALLOW DISALLOW', 'user-agent allow disallow', 'uSeR-aGeNt AlLoW dIsAlLoW'].map((keys) => {
      const [agent, allow, disallow] = keys.split(' ');
      return { file: `${agent}: FooBot\n${allow}: /x/\n${disallow}: /\n`, says: '+/x/y -/a/b' };
    }),
  },
  {
    name: 'ID_VerifyValidUserAgentsToObey',
    assertions: 10,
    rows: [
      ...['Foobot', 'Foobot-Bar', 'Foo_Bar'].map((crawler) => ({ file: named(crawler), crawler, says: '-/x' })),
      // The empty name is there twice, because that reader distinguishes a missing text from an empty one.
      ...['', '', 'ツ', 'Foobot*', ' Foobot ', 'Foobot/2.1', 'Foobot Bar'].map((crawler) => ({
        file: named(crawler),
        crawler,
        says: '+/x',
      })),
    ],
  },
  {
    name: 'ID_UserAgentValueCaseInsensitive',
    assertions: 12,
    rows: ['FOO BAR', 'foo bar', 'FoO bAr'].flatMap((name) =>
      each(['Foo', 'foo'], { file: `User-Agent: ${name}\nAllow: /x/\nDisallow: /\n`, says: '+/x/y -/a/b' }),
    ),
  },
  {
    name: 'GoogleOnly_AcceptUserAgentUpToFirstSpace',
    assertions: 3,
    rows: [
      { file: named('Foobot Bar'), crawler: 'Foobot Bar', says: '+/x/y' },
      { file: TWO_WORDS, crawler: 'Foo', says: '+/x/y' },
      { file: TWO_WORDS, crawler: 'Foo Bar', says: '-/x/y' },
    ],
  },
  {
    name: 'ID_GlobalGroups_Secondary',
    assertions: 4,
    rows: [
      { file: '', says: '+/x/y' },
      { file: GLOBAL, says: '-/x/y' },
      { file: GLOBAL, crawler: 'BarBot', says: '+/x/y' },
      { file: SPECIFIC, crawler: 'QuxBot', says: '+/x/y' },
    ],
  },
  {
    name: 'ID_AllowDisallow_Value_CaseSensitive',
    assertions: 2,
    rows: [
      { file: 'user-agent: FooBot\ndisallow: /x/\n', says: '-/x/y' },
      { file: 'user-agent: FooBot\ndisallow: /X/\n', says: '+/x/y' },
    ],
  },
  {
    name: 'ID_LongestMatch',
    assertions: 14,
    rows: [
      { file: 'user-agent: FooBot\ndisallow: /x/page.html\nallow: /x/\n', says: '-/x/page.html' },
      { file: 'user-agent: FooBot\nallow: /x/page.html\ndisallow: /x/\n', says: '+/x/page.html -/x/' },
      { file: 'user-agent: FooBot\ndisallow: \nallow: \n', says: '+/x/page.html' },
      { file: allowing('/'), says: '+/x/page.html' },
      { file: 'user-agent: FooBot\ndisallow: /x\nallow: /x/\n', says: '-/x +/x/' },
      { file: 'user-agent: FooBot\ndisallow: /x/page.html\nallow: /x/page.html\n', says: '+/x/page.html' },
      { file: 'user-agent: FooBot\nallow: /page\ndisallow: /*.html\n', says: '-/page.html +/page' },
      { file: 'user-agent: FooBot\nallow: /x/page.\ndisallow: /*.html\n', says: '+/x/page.html -/x/y.html' },
      { file: 'User-agent: *\nDisallow: /x/\nUser-agent: FooBot\nDisallow: /y/\n', says: '+/x/page -/y/page' },
    ],
  },
  {
    name: 'ID_Encoding',
    assertions: 7,
    rows: [
      {
        file: allowing('/foo/bar?qux=taz&baz=http://foo.bar?tar&par'),
        says: '+/foo/bar?qux=taz&baz=http://foo.bar?tar&par',
      },
      { file: allowing('/foo/bar/ツ'), says: '+/foo/bar/%E3%83%84 -/foo/bar/ツ' },
      { file: allowing('/foo/bar/%E3%83%84'), says: '+/foo/bar/%E3%83%84 -/foo/bar/ツ' },
      { file: allowing('/foo/bar/%62%61%7A'), says: '-/foo/bar/baz +/foo/bar/%62%61%7A' },
    ],
  },
  {
    name: 'ID_SpecialCharacters',
    assertions: 10,
    rows: [
      {
        file: 'User-agent: FooBot\nDisallow: /foo/bar/quz\nAllow: /foo/*/qux\n',
        says: '-/foo/bar/quz +/foo/quz +/foo//quz +/foo/bax/quz',
      },
      {
        file: 'User-agent: FooBot\nDisallow: /foo/bar$\nAllow: /foo/bar/qux\n',
        says: '-/foo/bar +/foo/bar/qux +/foo/bar/ +/foo/bar/baz',
      },
      {
        file: 'User-agent: FooBot\n# Disallow: /\nDisallow: /foo/quz#qux\nAllow: /\n',
        says: '+/foo/bar -/foo/quz',
      },
    ],
  },
  {
    name: 'GoogleOnly_IndexHTMLisDirectory',
    assertions: 4,
    rows: [
      {
        file: 'User-Agent: *\nAllow: /allowed-slash/index.html\nDisallow: /\n',
        says: '-/allowed-slash/index.htm +/allowed-slash/index.html -/anyother-url',
      },
    ],
    without: [1, 'a documented leniency: where a page named index.html is allowed, so is its folder'],
  },
  {
    name: 'GoogleOnly_LineTooLong',
    assertions: 5,
    rows: [
      { file: `user-agent: FooBot\ndisallow: ${LONG}/qux\n`, says: `+/fux -${LONG}/fux` },
      { file: `${allowing(`${LONG_A}/qux`)}allow: ${LONG_B}/qux\n`, says: `-/ +${LONG_A}/qux +${LONG_B}/fux` },
    ],
  },
  {
    name: 'GoogleOnly_DocumentationChecks',
    assertions: 58,
    rows: [
      {
        file: allowing('/fish'),
        says: '-/bar +/fish +/fish.html +/fish/salmon.html +/fishheads +/fishheads/yummy.html +/fish.html?id=anything -/Fish.asp -/catfish -/?id=fish',
      },
      {
        file: allowing('/fish*'),
        says: '-/bar +/fish +/fish.html +/fish/salmon.html +/fishheads +/fishheads/yummy.html +/fish.html?id=anything -/Fish.bar -/catfish -/?id=fish',
      },
      {
        file: allowing('/fish/'),
        says: '-/bar +/fish/ +/fish/salmon +/fish/?salmon +/fish/salmon.html +/fish/?id=anything -/fish -/fish.html -/Fish/Salmon.html',
      },
      {
        file: allowing('/*.php'),
        says: '-/bar +/filename.php +/folder/filename.php +/folder/filename.php?parameters +//folder/any.php.file.html +/filename.php/ +/index?f=filename.php/ -/php/ -/index?php -/windows.PHP',
      },
      {
        file: allowing('/*.php$'),
        says: '-/bar +/filename.php +/folder/filename.php -/filename.php?parameters -/filename.php/ -/filename.php5 -/php/ -/filename?php -/aaaphpaaa -//windows.PHP',
      },
      { file: allowing('/fish*.php'), says: '-/bar +/fish.php +/fishheads/catfish.php?parameters -/Fish.PHP' },
      { file: 'user-agent: FooBot\nallow: /p\ndisallow: /\n', says: '+/page' },
      { file: 'user-agent: FooBot\nallow: /folder\ndisallow: /folder\n', says: '+/folder/page' },
      { file: 'user-agent: FooBot\nallow: /page\ndisallow: /*.htm\n', says: '-/page.htm' },
      { file: 'user-agent: FooBot\nallow: /$\ndisallow: /\n', says: '+/ -/page.html' },
    ],
  },
  {
    name: 'ID_LinesNumbersAreCountedCorrectly',
    assertions: 10,
    // That all four lines are read is one assertion of each.
    rows: ENDS.flatMap((ends) => {
      const file = FOR_FOO_AND_BAR.map((line, at) => `${line}${ends[at]}`).join('');
      return [
        { file, crawler: 'foo', says: '-/some/path +/x', shows: 0 },
        { file, crawler: 'bar', says: '-/x', shows: 1 },
      ];
    }),
    without: [5, 'which number the last line has: nothing is told of lines here'],
  },
  {
    name: 'ID_UTF8ByteOrderMarkIsSkipped',
    assertions: 10,
    // These are about how many lines are read, and how many are unknown.
    rows: [
      { file: behind(...MARK), crawler: 'foo', says: '-/any', shows: 2 },
      { file: behind(0xef, 0xbb), crawler: 'foo', says: '-/any', shows: 2 },
      { file: behind(0xef), crawler: 'foo', says: '-/any', shows: 2 },
      { file: behind(0xef, 0x11, 0xbf), crawler: 'foo', says: '+/any', shows: 2 },
      { file: FOR_FOO.replace('Disallow', '\uFEFFDisallow'), crawler: 'foo', says: '+/any', shows: 2 },
    ],
  },
  {
    name: 'ID_NonStandardLineExample_Sitemap',
    assertions: 2,
    // The test of sitemaps below shows these.
    rows: [],
  },
  {
    name: 'TestGetPathParamsQuery',
    assertions: 19,
    rows: TARGETS.map(([url, target]) => ({
      file: allowing(`${target}$`),
      says: `+${targetOf(url)}`,
    })),
    without: [13, 'addresses without a scheme, which a crawl never has'],
  },
  {
    name: 'TestMaybeEscapePattern',
    assertions: 4,
    rows: [
      { file: allowing('http://www.example.com'), says: '+http://www.example.com' },
      { file: allowing('/a/b/c'), says: '+/a/b/c' },
      { file: allowing('á'), says: '+%C3%A1' },
      { file: allowing('%aa'), says: '+%AA' },
    ],
  },
];

const MAP = 'http://foo.example/sitemap.xml';
const SITEMAPS = [
  `User-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\nSitemap: ${MAP}\n`,
  `Sitemap: ${MAP}\nUser-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\n`,
];

const saidOf = ({ says, shows }: Row) => shows ?? says.split(' ').length;

describe("Google's published assertions on robots.txt", () => {
  it.each(PUBLISHED)('hold: $name', ({ rows }) => {
    for (const { file, crawler = 'FooBot', says } of rows) {
      const robots = readRobotsFile(Buffer.from(file), crawler);
      const said = says.split(' ').map((line) => `${robots.isAllowed(line.slice(1)) ? '+' : '-'}${line.slice(1)}`);
      expect(said.join(' '), String(file).slice(0, 200)).toBe(says);
    }
  });

  it('hold for sitemaps, wherever their line is', () => {
    for (const file of SITEMAPS) expect(readRobotsFile(Buffer.from(file), 'foo').sitemaps).toEqual([MAP]);
  });

  it('hold for the targets of URLs', () => {
    expect(TARGETS.map(([url]) => targetOf(url))).toEqual(TARGETS.map(([, target]) => target));
  });

  it('are complete: 181 hold, and 20 are excepted', () => {
    const counted = PUBLISHED.map(({ name, rows, without: [excepted] = [0] }) => {
      const shown = name.endsWith('_Sitemap') ? SITEMAPS.length : rows.reduce((sum, row) => sum + saidOf(row), 0);
      return { name, assertions: shown + excepted, excepted };
    });
    expect(counted.map(({ name, assertions }) => ({ name, assertions }))).toEqual(
      PUBLISHED.map(({ name, assertions }) => ({ name, assertions })),
    );
    const sum = (member: 'assertions' | 'excepted') => counted.reduce((all, row) => all + row[member], 0);
    expect([sum('assertions'), sum('excepted')]).toEqual([201, 20]);
  });
});
