import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRobotsFile, ROBOTS_BYTES_MAX } from './robots-file.js';

/** `+/path` may be crawled, `-/path` may not. */
interface Agreed {
  readonly title: string;
  readonly file: string;
  readonly crawler?: string;
  readonly says: readonly string[];
}

const THREE_GROUPS =
  'allow: /foo/bar/\n\nuser-agent: FooBot\ndisallow: /\nallow: /x/\nuser-agent: BarBot\ndisallow: /\nallow: /y/\n\n\nallow: /w/\nuser-agent: BazBot\n\nuser-agent: FooBot\nallow: /z/\ndisallow: /\n';
const LONG = 'x'.repeat(2083 * 8);

/**
 * What Google's published tests of its own reader assert, in rows of our own. Left out are its documented leniencies: keys without
 * colon, misspelled keys, and `/index.html` of an allowed folder.
 */
const AGREED: readonly Agreed[] = [
  { title: 'keys and values with a colon', file: 'user-agent: FooBot\ndisallow: /\n', says: ['-/x/y'] },
  { title: 'unknown keys', file: 'foo: FooBot\nbar: /\n', says: ['+/x/y'] },
  { title: 'groups, several of one name', file: THREE_GROUPS, says: ['+/x/b', '+/z/d', '-/y/c', '-/foo/bar/'] },
  { title: 'a group of another name', file: THREE_GROUPS, crawler: 'BarBot', says: ['+/y/c', '+/w/a', '-/z/d'] },
  { title: 'names that stand together', file: THREE_GROUPS, crawler: 'BazBot', says: ['+/z/d', '-/x/b'] },
  {
    title: 'a sitemap does not end a group',
    file: 'User-agent: BarBot\nSitemap: https://foo.bar/sitemap\nUser-agent: *\nDisallow: /\n',
    crawler: 'BarBot',
    says: ['-/x/y'],
  },
  {
    title: 'an unknown line does not end a group',
    file: 'User-agent: FooBot\nInvalid-Unknown-Line: unknown\nUser-agent: *\nDisallow: /\n',
    says: ['-/x/y'],
  },
  ...['user-agent', 'USER-AGENT', 'uSeR-aGeNt'].map((key) => ({
    title: `${key}: keys in any case`,
    file: `${key}: FooBot\n${key.endsWith('t') ? 'allow' : 'ALLOW'}: /x/\nDiSaLlOw: /\n`,
    says: ['+/x/y', '-/a/b'],
  })),
  ...['FOO', 'foo', 'FoO'].map((name) => ({
    title: `${name}: names in any case`,
    file: `User-Agent: ${name} BAR\nAllow: /x/\nDisallow: /\n`,
    crawler: 'Foo',
    says: ['+/x/y', '-/a/b'],
  })),
  {
    title: 'a name up to its first space',
    file: 'User-Agent: *\nDisallow: /\nUser-Agent: Foo Bar\nAllow: /x/\nDisallow: /\n',
    crawler: 'Foo',
    says: ['+/x/y'],
  },
  { title: 'an empty file', file: '', says: ['+/x/y'] },
  {
    title: 'what is meant for all holds only for those without a group of their own',
    file: 'user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n',
    says: ['-/x/y'],
  },
  {
    title: 'what is meant for all',
    file: 'user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n',
    crawler: 'BarBot',
    says: ['+/x/y'],
  },
  {
    title: 'nobody is meant',
    file: 'user-agent: FooBot\nallow: /\nuser-agent: BarBot\ndisallow: /\nuser-agent: BazBot\ndisallow: /\n',
    crawler: 'QuxBot',
    says: ['+/x/y'],
  },
  { title: 'paths in their case', file: 'user-agent: FooBot\ndisallow: /X/\n', says: ['+/x/y'] },
  { title: 'paths in their case, refused', file: 'user-agent: FooBot\ndisallow: /x/\n', says: ['-/x/y'] },
  {
    title: 'the longest decides',
    file: 'user-agent: FooBot\ndisallow: /x/page.html\nallow: /x/\n',
    says: ['-/x/page.html', '+/x/'],
  },
  {
    title: 'the longest decides, whatever comes first',
    file: 'user-agent: FooBot\nallow: /x/page.html\ndisallow: /x/\n',
    says: ['+/x/page.html', '-/x/'],
  },
  { title: 'allowing wins among equals', file: 'user-agent: FooBot\ndisallow: /x/p\nallow: /x/p\n', says: ['+/x/p'] },
  { title: 'empty rules say nothing', file: 'user-agent: FooBot\ndisallow: \nallow: \n', says: ['+/x/page.html'] },
  { title: 'allowing all among equals', file: 'user-agent: FooBot\ndisallow: /\nallow: /\n', says: ['+/x/page.html'] },
  {
    title: 'a folder with and without its slash',
    file: 'user-agent: FooBot\ndisallow: /x\nallow: /x/\n',
    says: ['-/x', '+/x/'],
  },
  {
    title: 'a longer pattern with an asterisk',
    file: 'user-agent: FooBot\ndisallow: *.html\nallow: /x\n',
    says: ['-/x.html', '+/x'],
  },
  {
    title: 'a shorter pattern with an asterisk',
    file: 'user-agent: FooBot\ndisallow: /x/page.html\nallow: /*.html\n',
    says: ['-/x/page.html', '+/x/page2.html'],
  },
  {
    title: 'escapes are compared as they stand',
    file: 'user-agent: FooBot\ndisallow: /\nallow: /foo/bar?qux=taz&baz=http://foo.bar?tar&par\n',
    says: ['+/foo/bar?qux=taz&baz=http://foo.bar?tar&par'],
  },
  {
    title: 'characters beyond ASCII',
    file: 'user-agent: FooBot\ndisallow: /\nallow: /foo/bar/ツ\n',
    says: ['+/foo/bar/%E3%83%84'],
  },
  {
    title: 'escapes of characters beyond ASCII, in any case',
    file: 'user-agent: FooBot\ndisallow: /\nallow: /foo/bar/%e3%83%84\n',
    says: ['+/foo/bar/%E3%83%84'],
  },
  {
    title: 'escapes of what need not be escaped are not undone',
    file: 'user-agent: FooBot\ndisallow: /\nallow: /foo/bar/%62%61%7A\n',
    says: ['-/foo/bar/baz', '+/foo/bar/%62%61%7A'],
  },
  {
    title: 'asterisks',
    file: 'user-agent: FooBot\ndisallow: /foo/bar/quz\nallow: /foo/*/qux\n',
    says: ['-/foo/bar/quz', '+/foo/quz', '+/foo//quz', '+/foo/bax/quz'],
  },
  {
    title: 'the dollar sign at the end',
    file: 'user-agent: FooBot\ndisallow: /foo/bar$\nallow: /foo/bar/qux\n',
    says: ['-/foo/bar', '+/foo/bar/qux', '+/foo/bar/', '+/foo/bar/baz'],
  },
  {
    title: 'comments',
    file: 'user-agent: FooBot # to be fooled\n# disallow: /\ndisallow: /foo/quz#qux\nallow: /\n',
    says: ['+/foo/bar', '-/foo/quz'],
  },
  {
    title: '/fish',
    file: rule('/fish'),
    says: list('+/fish +/fish.html +/fish/salmon.html +/fishheads +/fish.php?id=1 -/Fish.asp -/catfish -/?id=fish'),
  },
  {
    title: '/fish*',
    file: rule('/fish*'),
    says: list('+/fish +/fish.html +/fishheads/yummy.html +/fish.php?id=1 -/Fish.bar -/catfish'),
  },
  {
    title: '/fish/',
    file: rule('/fish/'),
    says: list('+/fish/ +/fish/salmon +/fish/?salmon -/fish -/fish.html -/bar'),
  },
  {
    title: '/*.php',
    file: rule('/*.php'),
    says: list(
      '+/filename.php +/folder/any.php.file.html +/filename.php/ +/index?f=filename.php/ -/php/ -/index?php -/windows.PHP',
    ),
  },
  {
    title: '/*.php$',
    file: rule('/*.php$'),
    says: list(
      '+/filename.php +/folder/filename.php -/filename.php?parameters -/filename.php/ -/filename.php5 -/php/ -/aaaphpaaa',
    ),
  },
  {
    title: '/fish*.php',
    file: rule('/fish*.php'),
    says: list('+/fish.php +/fishheads/catfish.php?parameters -/Fish.PHP -/bar'),
  },
  { title: '/p and /', file: 'user-agent: FooBot\nallow: /p\ndisallow: /\n', says: ['+/page'] },
  { title: '/folder twice', file: 'user-agent: FooBot\nallow: /folder\ndisallow: /folder\n', says: ['+/folder/page'] },
  { title: '/page and /*.htm', file: 'user-agent: FooBot\nallow: /page\ndisallow: /*.htm\n', says: ['-/page.htm'] },
  { title: '/$ and /', file: 'user-agent: FooBot\nallow: /$\ndisallow: /\n', says: ['+/', '-/page.html'] },
  {
    title: 'lines that are too long',
    file: `user-agent: FooBot\ndisallow: /${LONG}/qux\n`,
    says: ['+/fux', `-/${LONG}/fux`],
  },
  {
    title: 'ends of lines of all three kinds',
    file: 'User-Agent: foo\rAllow: /some/path\r\nUser-Agent: bar\n\r\n\nDisallow: /\r',
    crawler: 'bar',
    says: ['-/x'],
  },
  { title: 'a byte order mark', file: '\uFEFFUser-Agent: foo\nDisallow: /\n', crawler: 'foo', says: ['-/x'] },
];

function rule(allowed: string): string {
  return `user-agent: FooBot\ndisallow: /\nallow: ${allowed}\n`;
}

function list(text: string): string[] {
  return text.split(' ');
}

const read = (file: string | Uint8Array, crawler = 'FooBot') => readRobotsFile(Buffer.from(file), crawler);

describe('readRobotsFile', () => {
  it.each(AGREED)('agrees with the published tests: $title', ({ file, crawler, says }) => {
    const robots = read(file, crawler);
    const said = says.map((line) => `${robots.isAllowed(line.slice(1)) ? '+' : '-'}${line.slice(1)}`);
    expect(said).toEqual(says);
  });

  it('skips a part of a byte order mark, and not what only resembles one', () => {
    const lines = Buffer.from('User-Agent: foo\nDisallow: /\n');
    const behind = (...bytes: number[]) => read(Buffer.concat([Buffer.from(bytes), lines]), 'foo').isAllowed('/x');
    expect([behind(0xef), behind(0xef, 0xbb), behind(0xef, 0xbb, 0xbf)]).toEqual([false, false, false]);
    expect(behind(0xef, 0x11, 0xbf)).toBe(true);
  });

  it('tells sitemaps of the whole file, and the delay of its own group in milliseconds', () => {
    const robots = read(
      'Sitemap: https://a.example/1.xml\nUser-agent: *\nCrawl-delay: 9\nUser-agent: x\nDisallow: /\nUser-agent: FooBot\nCrawl-delay: 2.5\nDisallow: /a\nsitemap:https://a.example/2.xml',
    );
    expect(robots.sitemaps).toEqual(['https://a.example/1.xml', 'https://a.example/2.xml']);
    expect(robots.crawlDelayMs).toBe(2500);
    expect(read('User-agent: *\nCrawl-delay: soon').crawlDelayMs).toBeUndefined();
    expect(read('User-agent: *\nCrawl-delay: 1e99').crawlDelayMs).toBe(86_400_000);
  });

  it('reads no more than its bound, and any bytes', () => {
    const behind = `${'#'.repeat(ROBOTS_BYTES_MAX)}\nuser-agent: *\ndisallow: /`;
    expect(read(behind).isAllowed('/')).toBe(true);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.webPath(), (bytes, path) => {
        expect(typeof read(bytes).isAllowed(path)).toBe('boolean');
      }),
    );
  });

  it('matches as a regular expression would', () => {
    const piece = fc.constantFrom('/', 'a', 'b', '*', '$');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        fc.array(fc.constantFrom('/', 'a', 'b', '$'), { maxLength: 8 }),
        (pattern, path) => {
          const text = pattern.join('');
          const isAnchored = text.endsWith('$');
          const expression = (isAnchored ? text.slice(0, -1) : text).replaceAll('$', '\\$').replaceAll('*', '.*');
          const isMatch = new RegExp(`^${expression}${isAnchored ? '$' : ''}`).test(path.join(''));
          expect(read(`user-agent: *\ndisallow: ${text}`).isAllowed(path.join(''))).toBe(text === '' || !isMatch);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('takes no time that grows with the product of its rules and a path', () => {
    const hostile = `user-agent: *\n${`disallow: *${'a'.repeat(200)}b*a*a$\n`.repeat(2300)}`;
    const robots = read(hostile);
    const before = process.cpuUsage();
    for (let times = 0; times < 10; times += 1) robots.isAllowed(`/${'a'.repeat(2000)}`);
    const { user } = process.cpuUsage(before);
    expect(user / 10_000).toBeLessThan(200);
  });
});
