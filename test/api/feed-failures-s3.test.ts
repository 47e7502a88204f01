/**
 * Tests a feed of an S3 bucket with more files than one listing returns, in folders, with two servers: moto and
 * Adobe's S3Mock.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FeedService, ok } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import { describeWhere } from '../support/skip.js';
import { s3Mock } from '../support/s3-mock.js';
import { askBucket, s3Server, type S3TestServer } from '../support/s3-server.js';

const [moto, adobe] = await Promise.all([s3Server(), s3Mock()]);

describe.each([
  ['moto', moto],
  ['S3Mock', adobe],
])('%s:', (name, server) => {
  const reason = `${name}, a server that speaks S3, cannot be installed here`;
  describeWhere(server !== undefined, reason)('a bucket', () => {
    bucketTests(server);
  });
});

function bucketTests(server: S3TestServer | undefined): void {
  const ask = askBucket(`${server?.endpoint ?? ''}/files`);
  const paths = [
    'a/b.pdf',
    'a!/x.pdf',
    'a/b/c.pdf',
    'z.txt',
    ...Array.from({ length: 1001 }, (_, n) => `many/f${n}.pdf`),
  ];
  let feeds: FeedService;
  beforeAll(async () => {
    expect((await ask('PUT')).status).toBe(200);
    for (let begin = 0; begin < paths.length; begin += 20) {
      const answers = paths.slice(begin, begin + 20).map((path) => ask('PUT', `/in/${path}`, path));
      expect((await Promise.all(answers)).every(({ ok: isOk }) => isOk)).toBe(true);
    }
    feeds = await FeedService.start();
  });
  afterAll(async () => {
    await feeds.close();
    await server?.close();
  });

  it('with 1,005 files in folders becomes a list of all of them, and keeps them if it cannot be listed', async () => {
    const store = {
      name: 'bucket',
      kind: 's3',
      endpoint: server?.endpoint,
      bucket: 'files',
      prefix: 'in/',
      access_key_id: 'AKIATEST',
      secret_access_key: 'secret',
    };
    ok(await feeds.control.post('/media-store/default', store));
    const settings = { store: 'bucket' };
    const feed = await FollowedFeed.connect(feeds, 'files', { provider: 'media-store', settings });
    const { record_count: count } = await feeds.feed('files');
    expect(count).toBe(1005);
    const file = (await feeds.file('files')).text;
    for (const path of paths) expect(file).toContain(`"name":"${path}"`);
    expect(file).toContain('"document":"media:bucket/a/b/c.pdf"');
    const listed = async () =>
      (ok(await feeds.client.get('/list/default/files')) as { record_count: number }).record_count;
    await feed.now();
    expect(await listed()).toBe(1005);
    expect((await ask('DELETE', '/in/many/f1000.pdf')).status).toBe(204);
    expect((await feeds.sync('files')).last_run).toMatchObject({ removed: 1, added: 0, changed: 0, unchanged: 1004 });
    await server?.close();
    expect((await feeds.sync('files')).status).toBe('Failed');
    await feed.now();
    expect(await listed()).toBe(1004);
  });
}
