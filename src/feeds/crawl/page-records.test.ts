/** Which pages of a website become records, and which records. */
import { describe, expect, it } from 'vitest';
import { crawl, html, KeptMemory } from '../../../test/support/feeds/made-site.js';
import { typed } from '../../../test/support/feeds/made-pages.js';
import { siteMaker } from '../../../test/support/feeds/used-sites.js';

const siteOf = siteMaker();
const paths = (records: ReadonlyMap<string, unknown>) => [...records.keys()].sort();

describe('crawled pages', () => {
  it('leave out endless calendars, growing paths and session ids', async () => {
    const site = await siteOf({});
    const { script } = site.server;
    site.server.script = (asked, response) => {
      const [, month] = /^\/calendar\/(\d{4}-\d{2})$/.exec(asked.path) ?? [];
      const session = `?PHPSESSID=${Math.random().toString(36).slice(2)}0000000`;
      if (asked.path === '/')
        site.answer(asked, html('Home', 'Start', '/calendar/2026-11', '/grow/', `/s${session}`), response);
      else if (asked.path === '/s') site.answer(asked, html('S', 'Session', `/s${session}`, `/t${session}`), response);
      else if (month !== undefined) {
        const next = new Date(Date.parse(`${month}-01`) + 32 * 86_400_000).toISOString().slice(0, 7);
        site.answer(asked, html(month, `The month ${month}`, `/calendar/${next}`), response);
      } else if (asked.path.startsWith('/grow/'))
        site.answer(asked, html('Grow', `At ${asked.path}`, 'grow/'), response);
      else script(asked, response);
    };
    const { records, skipped } = await crawl(site, { depth_max: 100 });
    expect(paths(records).filter((path) => path.startsWith('/calendar')).length).toBeLessThan(20);
    expect(paths(records).filter((path) => path.startsWith('/grow')).length).toBeLessThan(4);
    expect(paths(records).filter((path) => path.startsWith('/s'))).toEqual(['/s']);
    expect([...skipped.values()].some((why) => why.includes('calendar'))).toBe(true);
    expect(site.asked().length).toBeLessThan(40);
  });

  it('become one record for equal content, and none if they are missing, empty, noindex or no text', async () => {
    const shell = '<body><div id=root></div><script src=app.js></script>';
    const site = await siteOf({
      '/': html('Home', 'Start', '/one', '/two', '/gone', '/app', '/hidden', '/tagged', '/picture', '/paper.pdf'),
      '/one': html('Same', 'The same text'),
      '/two': html('Same', 'The same text'),
      '/gone': html('Page not found', 'We are sorry', '/never'),
      '/app': shell,
      '/hidden': html('Hidden', 'x', '/behind').replace('<head>', '<head><meta name=robots content=noindex>'),
      '/tagged': (asked, response) => {
        response.setHeader('x-robots-tag', 'none');
        site.answer(asked, html('Tagged', 'x', '/never'), response);
      },
      '/behind': html('Behind', 'Behind a page that is not found'),
      '/picture': typed('image/png', 'x'),
      '/paper.pdf': typed('application/pdf', '%PDF'),
    });
    const { records, skipped, outcome } = await crawl(site);
    expect(paths(records).filter((path) => path !== '/two' && path !== '/one')).toEqual(['/', '/behind', '/paper.pdf']);
    expect(records.size).toBe(4);
    expect(Object.fromEntries([...skipped].filter(([path]) => path !== '/two' && path !== '/one'))).toEqual({
      '/gone': 'The page says that there is no such page.',
      '/app': 'needs JavaScript',
      '/hidden': 'The page asks not to be found (noindex).',
      '/tagged': 'The page asks not to be found (noindex).',
      '/picture': 'It is of the type image/png.',
    });
    expect(records.get('/paper.pdf')?.fields).toEqual({
      url: site.url('/paper.pdf'),
      title: 'paper',
      document: site.url('/paper.pdf'),
    });
    expect(outcome.isComplete).toBe(true);
  });

  it('become records again if their duplicate is gone, or if only a canonical link leads to them', async () => {
    const site = await siteOf({
      '/': html('Home', 'Start', '/one', '/two', '/three'),
      '/one': html('Same', 'The same text'),
      '/two': html('Same', 'The same text'),
      '/three': html('Three', 'Three').replace('<head>', '<head><link rel=canonical href=/real>'),
      '/real': html('Real', 'The real one'),
    });
    const memory = new KeptMemory();
    const first = await crawl(site, {}, { memory, limits: { requestsMax: 1 } });
    expect(paths(first.records)).toEqual(['/', '/one', '/real']);
    site.pages.delete('/one');
    const second = await crawl(site, {}, { memory, limits: { requestsMax: 1 } });
    expect([paths(second.records), second.gone, [...second.unchanged].sort()]).toEqual([
      ['/two'],
      ['/one'],
      ['/', '/real'],
    ]);
  });

  it('become the record of their canonical URL, but not on another host', async () => {
    const canonical = (title: string, ...links: string[]) =>
      html(title, `About ${title}`).replace(
        '<head>',
        `<head>${links.map((link) => `<link rel=canonical href="${link}">`).join('')}`,
      );
    const site = await siteOf({
      '/': html('Home', 'Start', '/relative?x', '/foreign', '/two'),
      '/relative?x': canonical('Relative', 'real'),
      '/real': html('Real', 'The real one'),
      '/foreign': canonical('Foreign', 'https://elsewhere.example/'),
      '/two': canonical('Two', '/one', '/other'),
    });
    const { records, skipped } = await crawl(site);
    expect(paths(records)).toEqual(['/', '/foreign', '/real', '/two']);
    expect(skipped.get('/relative?x')).toBe('The page says that it is /real.');
  });

  it('become a record for each section with an anchor', async () => {
    const long =
      '<h1>Birds</h1><p>All of them.</p><h2 id=gannets>Gannets</h2><p>They dive.</p><h3>Deep</h3><p>40 m.</p><h2 id="terns">Terns</h2><p>They hover.</p>';
    const site = await siteOf({ '/': `<title>Birds</title><main>${long}</main>` });
    const { records } = await crawl(site, { split: 'heading' });
    expect([...records].map(([path, { fields }]) => [path, fields['title'], fields['text']])).toEqual([
      ['/', 'Birds', 'All of them.'],
      ['/#gannets', 'Gannets', 'They dive.\nDeep\n40 m.'],
      ['/#terns', 'Terns', 'They hover.'],
    ]);
  });

  it('have what follows their last section in the record of that section', async () => {
    const sections = Array.from(
      { length: 502 },
      (_, number) => `<h2 id="s${number}">S${number}</h2><p>Text ${number}</p>`,
    );
    const site = await siteOf({ '/': `<title>Long</title><main>${sections.join('')}</main>` });
    const { records } = await crawl(site, { split: 'heading' });
    expect([records.size, records.get('/#s499')?.fields['text']]).toEqual([
      500,
      'Text 499\nS500\nText 500\nS501\nText 501',
    ]);
  });
});
