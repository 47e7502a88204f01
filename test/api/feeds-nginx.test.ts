/** Tests a website on a real web server, with compression, ETags, redirects and ranges. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FeedService } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import { html } from '../support/feeds/made-site.js';
import { Nginx, nginxFault } from '../support/feeds/nginx.js';
import { describeWhere } from '../support/skip.js';

const fault = nginxFault();
describeWhere(fault === undefined, fault ?? '')('a website on nginx', () => {
  let nginx: Nginx;
  let feeds: FeedService;
  beforeAll(async () => {
    nginx = await Nginx.start(
      'location = /old.html { return 301 /b.html; } location = /out { return 302 http://10.0.0.1/; }',
    );
    feeds = await FeedService.start();
  });
  afterAll(async () => {
    await feeds.close();
    await nginx.close();
  });

  it('is read compressed, with conditional requests, and changes on it reach the list', async () => {
    nginx.write('index.html', html('Home', 'Start', '/a.html', '/old.html', '/out', '/paper.pdf', '/gone.html'));
    nginx.write('a.html', html('A', 'Über a', '/b.html'));
    nginx.write('b.html', html('B', 'About b'));
    nginx.write('paper.pdf', '%PDF-1.4 of a test');
    nginx.write('robots.txt', 'User-agent: *\nDisallow: /secret/\nSitemap: /sitemap.xml');
    nginx.write('sitemap.xml', `<urlset><url><loc>${nginx.url('/c.html')}</loc></url></urlset>`);
    nginx.write('c.html', html('C', 'About c', '/secret/d.html'));
    nginx.write('secret/d.html', html('D', 'Secret'));
    const settings = { start_urls: [nginx.url('/')] };
    const feed = await FollowedFeed.connect(feeds, 'site', { provider: 'website', settings, base: nginx.url('') });
    const first = await feed.now();
    expect(first.names).toEqual(['/', '/a.html', '/b.html', '/c.html', '/paper.pdf']);
    expect(first.records[1]?.fields['text']).toBe('A\nÜber a');
    // nginx logs a request after it has answered.
    await expect.poll(() => nginx.answered).toContain('/a.html 200 gzip');
    expect(nginx.answered.some((line) => line.startsWith('/secret'))).toBe(false);

    nginx.forgetAnswered();
    const second = await feed.sync();
    expect(second.feed.last_run).toMatchObject({ added: 0, changed: 0, removed: 0, unchanged: 5 });
    for (const path of ['/index.html', '/a.html', '/b.html', '/c.html', '/paper.pdf', '/robots.txt', '/sitemap.xml'])
      await expect.poll(() => nginx.answered).toContain(`${path} 304 -`);

    nginx.write('a.html', html('A', 'Something else about a', '/b.html'));
    nginx.remove('c.html');
    const third = await feed.sync();
    expect(third.feed.last_run).toMatchObject({ added: 0, changed: 1, removed: 1 });
    expect(third.names).toEqual(['/', '/a.html', '/b.html', '/paper.pdf']);

    await nginx.close();
    const down = await feed.sync();
    expect([down.records, down.feed.status]).toEqual([third.records, 'Failed']);
  });
});
