import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRobotsFile, ROBOTS_BYTES_MAX } from './robots-file.js';

const read = (file: string | Uint8Array, crawler = 'FooBot') => readRobotsFile(Buffer.from(file), crawler);

describe('readRobotsFile', () => {
  it('skips a partial byte order mark, but not bytes that only resemble one', () => {
    const lines = Buffer.from('User-Agent: foo\nDisallow: /\n');
    const behind = (...bytes: number[]) => read(Buffer.concat([Buffer.from(bytes), lines]), 'foo').isAllowed('/x');
    expect([behind(0xef), behind(0xef, 0xbb), behind(0xef, 0xbb, 0xbf)]).toEqual([false, false, false]);
    expect(behind(0xef, 0x11, 0xbf)).toBe(true);
  });

  it('returns the sitemaps of the whole file, and the crawl delay of its own group in milliseconds', () => {
    const robots = read(
      'Sitemap: https://a.example/1.xml\nUser-agent: *\nCrawl-delay: 9\nUser-agent: x\nDisallow: /\nUser-agent: FooBot\nCrawl-delay: 2.5\nDisallow: /a\nsitemap:https://a.example/2.xml',
    );
    expect(robots.sitemaps).toEqual(['https://a.example/1.xml', 'https://a.example/2.xml']);
    expect(robots.crawlDelayMs).toBe(2500);
    expect(read('User-agent: *\nCrawl-delay: soon').crawlDelayMs).toBeUndefined();
    expect(read('User-agent: *\nCrawl-delay: 1e99').crawlDelayMs).toBe(86_400_000);
  });

  it('reads only up to its limit, and any bytes', () => {
    const behind = `${'#'.repeat(ROBOTS_BYTES_MAX)}\nuser-agent: *\ndisallow: /`;
    expect(read(behind).isAllowed('/')).toBe(true);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.webPath(), (bytes, path) => {
        expect(typeof read(bytes).isAllowed(path)).toBe('boolean');
      }),
    );
  });

  it('matches like a regular expression', () => {
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

  it('takes a time that does not grow with the product of rules and path length', () => {
    const hostile = `user-agent: *\n${`disallow: *${'a'.repeat(200)}b*a*a$\n`.repeat(2300)}`;
    const robots = read(hostile);
    const before = process.cpuUsage();
    for (let times = 0; times < 10; times += 1) robots.isAllowed(`/${'a'.repeat(2000)}`);
    const { user } = process.cpuUsage(before);
    expect(user / 10_000).toBeLessThan(200);
  });
});
