import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPage, type PageSelectors } from './page-reader.js';

const url = 'https://birds.example/news/gannets';
const nowMs = Date.parse('2026-11-22T00:00:00Z');
const read = (html: string, selectors: PageSelectors = {}) => readPage(html, { url, nowMs, selectors });

const PROSE =
  'Gannets fold their wings and dive from forty metres into the cold sea after mackerel and herring. '.repeat(4);
const CHROME = `<header class="banner"><a href="/">Home</a></header><nav><ul><li><a href="/a">Alpha</a><li><a href="/b" rel="nofollow">Beta</a></ul></nav>`;
const PAGE = `<!DOCTYPE html><html lang="en-GB"><head><title>Gannets | Sea birds</title>
<meta name="description" content="How they dive"><meta property="og:site_name" content="Sea birds"><meta property="og:image" content="/g.jpg">
<meta property="article:section" content="Diving"><meta name="keywords" content="sea, birds"><link rel="canonical" href="../news/gannets">
<script type="application/ld+json">{"@graph":[{"@type":"WebSite","name":"x"},{"@type":"NewsArticle","datePublished":"2026-11-02","dateModified":"2026-11-03T10:00:00+01:00","author":[{"@type":"Person","name":"Ann Auk"}]}]}</script>
</head><body>${CHROME}<div id="wrap"><main><h1 id="top">Gannets</h1><p>${PROSE}</p><section id="dive"><h2>The dive<a href="#dive">¶</a></h2><p>${PROSE}</p></section>
<h3><a name="food"></a>Food</h3><p>Fish &amp; squid.</p><div class="share-buttons"><a href="https://x.example/share">Share</a></div></main>
<aside class="related"><a href="/c">More about terns</a></aside></div><footer>Imprint</footer><script>var a = "hidden";</script></body></html>`;

describe('readPage', () => {
  it('returns the content of a page without what surrounds it', async () => {
    const page = await read(PAGE);
    expect(page).toMatchObject({
      title: 'Gannets',
      description: 'How they dive',
      headings: ['Gannets', 'The dive', 'Food'],
      language: 'en',
      image: 'https://birds.example/g.jpg',
      published: '2026-11-02T00:00:00.000Z',
      modified: '2026-11-03T09:00:00.000Z',
      section: 'Diving',
      canonical: url,
      isNoindex: false,
      isNofollow: false,
      needsJavaScript: false,
      looksMissing: false,
      looksRefused: false,
      isWhole: true,
      breaksOff: false,
    });
    expect(page.more).toEqual({
      authors: ['Ann Auk'],
      keywords: ['sea', 'birds'],
      type: 'NewsArticle',
      site_name: 'Sea birds',
    });
    expect(page.text).toContain('Fish & squid.');
    expect(page.text).not.toMatch(/Alpha|Imprint|terns|Share|hidden|Home/);
    expect(page.sections.map(({ heading }) => heading?.anchor)).toEqual([undefined, 'top', 'dive', 'food']);
    const linked = page.links.map((link) => `${link.isNofollow ? '-' : '+'}${new URL(link.url).pathname}`);
    expect(linked).toEqual(['+/', '+/a', '-/b', '+/news/gannets', '+/share', '+/c']);
  });

  it('finds the content of a page that does not mark it', async () => {
    const links = Array.from(
      { length: 30 },
      (_, number) => `<li><a href="/p${number}">A link to page number ${number}</a></li>`,
    ).join('');
    const page = await read(
      `<body><div class="top"><ul>${links}</ul></div><div class="x7"><div class="y1"><p>${PROSE}<p>${PROSE}</div></div><div><p>© Sea birds 2026, all rights reserved</p></div>`,
    );
    expect(page.text).toContain('Gannets fold');
    expect(page.text).not.toMatch(/A link|rights reserved/);
  });

  it.each([
    ['noindex, nofollow', true, true],
    ['none', true, true],
    ['max-snippet:20', false, false],
  ])('follows %s in the meta element and the header for robots', async (content, isNoindex, isNofollow) => {
    expect(await read(`<meta name=ROBOTS content="${content}">`)).toMatchObject({ isNoindex, isNofollow });
    expect(await readPage('<p>x', { url, nowMs, robotsTag: content })).toMatchObject({ isNoindex, isNofollow });
  });

  it('resolves a relative canonical URL, and ignores two of them', async () => {
    expect((await read('<base href="https://birds.example/x/"><link rel=canonical href=y>')).canonical).toBe(
      'https://birds.example/x/y',
    );
    expect((await read('<link rel=canonical href=/a><link rel=canonical href=/b>')).canonical).toBeUndefined();
    expect((await read('<link rel=canonical href="javascript:x">')).canonical).toBeUndefined();
  });

  it('distinguishes a page that scripts fill in from a short one', async () => {
    expect((await read('<body><div id=root></div><script src=/app.js></script>')).needsJavaScript).toBe(true);
    expect(
      (
        await read(
          '<body><noscript>You need to enable JavaScript to run this app.</noscript><script src=/app.js></script>',
        )
      ).needsJavaScript,
    ).toBe(true);
    expect((await read('<body><p>Closed today.</p><script src=/app.js></script>')).needsJavaScript).toBe(false);
    expect(
      (await read(`<body><div id=root><main>${PROSE}</main></div><script src=/app.js></script>`)).needsJavaScript,
    ).toBe(false);
  });

  it('recognizes a page that says it does not exist', async () => {
    expect((await read('<title>404</title><h1>Sorry</h1><p>Try the search.')).looksMissing).toBe(true);
    expect((await read('<title>Vögel</title><h1>Seite nicht gefunden</h1>')).looksMissing).toBe(true);
    expect((await read(`<title>The bird that was not found</title>${PROSE.repeat(5)}`)).looksMissing).toBe(false);
  });

  it.each([
    ['<title>503 Service Unavailable</title><h1>Back soon</h1>', true],
    ['<title>Birds</title><h1>Wartungsarbeiten</h1>', true],
    ['<title>Sign in</title><form><input type=password></form>', true],
    ['<title>Just a moment...</title><script src=x></script>', true],
    ['<title>Sign in to the colony</title><p>How gannets know each other.', false],
    ['<title>Birds</title><h1>Gannets</h1><form><input type=PassWord></form>', false],
    [`<title>Errors of birds, and an error occurred</title>${PROSE.repeat(5)}`, false],
  ])('recognizes %s as an answer of another kind: %s', async (text, expected) => {
    expect((await read(text)).looksRefused).toBe(expected);
  });

  it.each([
    ['<html><body><main><p>Half of', true],
    ['<p>One<p>Two <a href="/thr', true],
    ['<title>Birds</title><main><h1>A</h1><p>All of it</main><p>End', false],
    ['<html><body><div><p>Careless, and complete</body></html>', false],
    ['<ul><li>One<li>Two</ul>', false],
    ['a < b', false],
  ])('tells whether %s breaks off: %s', async (text, expected) => {
    expect((await read(text)).breaksOff).toBe(expected);
  });

  it('reports a page as broken off wherever it is truncated', async () => {
    const start = PAGE.indexOf('<main>');
    const end = PAGE.indexOf('</main>');
    expect(end).toBeGreaterThan(start + 500);
    for (let length = start; length < end; length += 7)
      expect((await read(PAGE.slice(0, length))).breaksOff, PAGE.slice(0, length)).toBe(true);
    expect((await read(PAGE)).breaksOff).toBe(false);
  });

  it('uses the selectors for title, text, fields and what to remove', async () => {
    const html = `<body><div class=t>My title</div><div class=c><p>Kept</p><p class=ad>Dropped</p></div><ul class=tags><li>a<li>b</ul><i class=n>7</i>`;
    const page = await read(html, {
      title: '.t',
      text: '.c',
      remove: '.ad',
      fields: { tags: '.tags li', number: '.n', none: '.zz' },
    });
    expect([page.title, page.text, page.more]).toEqual(['My title', 'Kept', { tags: ['a', 'b'], number: '7' }]);
  });

  it('makes a hash of the content only', async () => {
    const one = (await read(PAGE.replace('Imprint', 'Served at 10:00'))).contentHash;
    expect(one).toBe((await read(PAGE)).contentHash);
    expect((await read(PAGE.replace('squid', 'crabs'))).contentHash).not.toBe(one);
  });

  it('limits endless nesting, in a time that grows linearly', async () => {
    const before = process.cpuUsage();
    expect(await read(`<p>Text</p>${'<div>'.repeat(1_000_000)}`)).toMatchObject({ isWhole: false, text: 'Text' });
    expect((await read('<table>'.repeat(300_000))).isWhole).toBe(false);
    const links = (count: number) =>
      Array.from({ length: count }, (_, number) => `<a href="/${number}">x</a>`).join('');
    expect(await read(links(5000))).toMatchObject({ isWhole: true });
    const { isWhole, links: taken } = await read(links(5001));
    expect([isWhole, taken.length]).toEqual([false, 5000]);
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(5);
  });

  it('reads any text', async () => {
    const piece = fc.constantFrom(
      '<main>',
      '<h1 id=a>',
      '</h1>',
      '<script type=application/ld+json>',
      '{"@type":["Article"],"author":',
      '</script>',
      '<a href="http://[">',
      '<base href="//">',
      '<title>',
      '<meta name=robots content=',
      '<svg><title>',
      '<!--',
      '<table><td>',
      '\ud800',
      '<link rel=canonical href=x>',
      '&#xffffffff;',
      '<time datetime=9999999999>',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), async (pieces) => {
        const page = await read(pieces.join(''));
        expect(/\p{Surrogate}/u.test(page.title + page.text)).toBe(false);
        for (const link of page.links) expect(URL.canParse(link.url)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
