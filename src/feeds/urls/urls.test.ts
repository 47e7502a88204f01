import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DigestSet, digestsOf } from './address-digests.js';
import { originAndTarget, pageUrl, trapOf } from './page-url.js';
import { UrlScope } from './url-scope.js';

const nowMs = Date.parse('2026-11-22T00:00:00Z');

describe('pageUrl', () => {
  it.each([
    ['https://A.example:443/x#top', 'https://a.example/x'],
    ['../y?utm_source=a&b=1&fbclid=z', 'https://a.example/y?b=1'],
    ['/y;jsessionid=0123456789ABCDEF?PHPSESSID=0123456789abcdef', 'https://a.example/y'],
    ['/y?sid=12', 'https://a.example/y?sid=12'],
    ['/y?a&b=&c=1', 'https://a.example/y?a&b=&c=1'],
    ['/y?', 'https://a.example/y'],
    ['/%e3%83%84', 'https://a.example/%E3%83%84'],
    ['http://user:secret@a.example/', 'http://a.example/'],
    ['mailto:a@a.example', undefined],
    ['javascript:void(0)', undefined],
    ['http://[', undefined],
    [`/${'x'.repeat(2000)}`, undefined],
  ])('of %s is %s', (text, expected) => {
    expect(pageUrl(text, 'https://a.example/x/z')).toBe(expected);
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (text) => {
        const once = pageUrl(text);
        if (once === undefined) return;
        expect(pageUrl(once)).toBe(once);
        const { origin, pathname, search } = new URL(once);
        expect(originAndTarget(once)).toEqual({ origin, target: pathname + search });
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = pageUrl(text, 'https://a.example/');
        if (once !== undefined) expect(trapOf(new URL(once), nowMs) === undefined || pageUrl(once) === once).toBe(true);
      }),
    );
  });
});

describe('trapOf', () => {
  it.each([
    '/calendar/2031/05',
    '/events?date=2031-05-04',
    '/calendar?year=1822&month=3',
    '/calendar/1822-03',
    '/a/b/a/b/a/b',
    '/img/img/img/x/img',
    `/${'d/'.repeat(30)}`,
    `/?${Array.from({ length: 20 }, (_, number) => `p${number}=1`).join('&')}`,
  ])('recognizes a trap in %s', (path) => {
    expect(trapOf(new URL(`https://a.example${path}`), nowMs)).toMatch(/^I/);
  });

  it.each([
    '/',
    '/news/2026/11/22/gannets',
    '/archive/1822-03',
    '/calendar/2027/03',
    '/a/b/a/b/c',
    '/en/en/x',
    '/item/203105',
    '/?y=2026',
    '/v/1.2031-05x9',
  ])('recognizes no trap in %s', (path) => {
    expect(trapOf(new URL(`https://a.example${path}`), nowMs)).toBeUndefined();
  });
});

describe('UrlScope', () => {
  const scope = (include: string[], exclude: string[] = []) =>
    new UrlScope({ startUrls: ['https://a.example/docs/'], include, exclude });

  it('includes the hosts of the start URLs if there are no patterns', () => {
    const all = scope([]);
    expect(all.refusal(new URL('https://a.example/x?y'))).toBeUndefined();
    expect(all.refusal(new URL('https://b.example/'))).toBe('another host');
    all.addHostOf('https://b.example/z');
    expect(all.refusal(new URL('https://b.example/'))).toBeUndefined();
  });

  it.each([
    ['/docs/*', '/docs/a', undefined],
    ['/docs/*', '/docs/a/b', 'not included'],
    ['/docs/**', '/docs/a/b?c', undefined],
    ['/docs/a?b', '/docs/a?b', undefined],
    ['/docs/a?b', '/docs/axb', 'not included'],
    ['https://a.example/*.html', '/x.html', undefined],
    ['**/(x)', '/d/(x)', undefined],
  ])('refuses by the pattern %s, for %s: %s', (pattern, path, said) => {
    expect(scope([pattern]).refusal(new URL(`https://a.example${path}`))).toBe(said);
  });

  it('reaches another host only by a pattern that names it, and leaves out what is excluded', () => {
    expect(scope(['/docs/**']).refusal(new URL('https://b.example/docs/x'))).toBe('another host');
    expect(scope(['https://b.example/docs/**']).refusal(new URL('https://b.example/docs/x'))).toBeUndefined();
    expect(scope([], ['**/print/**']).refusal(new URL('https://a.example/docs/print/1'))).toBe('excluded');
  });

  it('takes a time that grows only with the length of the URL', () => {
    const hostile = scope([`/${'**a'.repeat(100)}b`]);
    const before = process.cpuUsage();
    hostile.refusal(new URL(`https://a.example/${'a'.repeat(1000)}`));
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000);
  });
});

describe('DigestSet', () => {
  const urls = Array.from(
    { length: 200_000 },
    (_, number) => `https://a.example/${['p', 'd/e', 'x?y='][number % 3]}/${number}`,
  );

  it('has exactly what was added', () => {
    const digests = digestsOf(urls);
    const known = new DigestSet();
    for (let position = 0; position < urls.length; position += 2) expect(known.add(digests, position)).toBe(true);
    expect(known.size).toBe(urls.length / 2);
    const wrong = urls.filter((_, position) => known.has(digests, position) !== (position % 2 === 0));
    expect(wrong).toEqual([]);
    expect([known.add(digests, 0), known.add(digests, 1), known.size]).toEqual([false, true, urls.length / 2 + 1]);
  });

  it('has different digests, in each half, for texts that differ in one character', () => {
    const digests = digestsOf(urls);
    const halves = [0, 1].map((half) => new Set(urls.map((_, position) => digests[position * 2 + half])).size);
    // Statistically, five of two hundred thousand have a duplicate in one half.
    for (const distinct of halves) expect(urls.length - distinct).toBeLessThan(50);
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const [a, b] = [digestsOf([one]), digestsOf([other])];
        expect(a[0] === b[0] && a[1] === b[1]).toBe(one === other);
      }),
    );
  });

  it('keeps a digest that is all zeros', () => {
    const known = new DigestSet();
    const zeros = new Uint32Array(2);
    expect([known.has(zeros, 0), known.add(zeros, 0), known.has(zeros, 0), known.add(zeros, 0)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
