/** Actors whose lists follow a source: a bucket, a mailbox, news, an API, a file. They compare each list with its source. */
import { ACCOUNT } from '../end-to-end/lib/service.mjs';
import { fieldsOf, reading, same, synced, until, wordOf } from './tools.mjs';

const BUCKET = 'bucket';
const FILES_OF_BUCKET = 12;
const USER = 'user1';
const MESSAGES_MAX = 12;
const ROWS = 40;
const BYTES_OF_FILE = 300_000;
/** Interval of feeds, so long that they are only due when a sync is requested or the clock has jumped. */
const INTERVAL_MINUTES = 1440;

const RATES = {
  bucket: 1 / 20,
  bucketFeed: 1 / 60,
  mailbox: 1 / 60,
  news: 1 / 45,
  interface: 1 / 45,
  fileSource: 1 / 45,
  discover: 1 / 90,
  feedLife: 1 / 120,
};

/** Returns functions that change the mailbox as its user. */
function mailboxOf(server) {
  return {
    put(number, text) {
      const head = [`Message-ID: <${number}@a.example>`, 'From: Ada <ada@a.example>', `Subject: No. ${number}`];
      return server.asOwner(USER, (client) => client.append('INBOX', [...head, '', text].join('\r\n')));
    },
    removeFirst() {
      return server.asOwner(USER, async (client) => {
        await client.mailboxOpen('INBOX');
        await client.messageDelete('1');
      });
    },
  };
}

/** Returns a function that sends requests to the bucket as its owner. */
function bucketOf({ support, s3 }) {
  const ask = support.askBucket(`${s3.endpoint}/${BUCKET}`);
  return async (...asked) => {
    const answer = await ask(...asked);
    if (!answer.ok) throw new Error(`the bucket answers ${answer.status}`);
    await answer.arrayBuffer();
  };
}

/** Creates stores, feeds, and lists that follow them. Skips what needs a mail or bucket server if there is none. */
export async function prepareSources({ send, operate, outside, support, mailServer, s3 }) {
  const follow = async (name, feed) => {
    await operate('POST', `/feed/${ACCOUNT}/connect`, { name, interval_minutes: INTERVAL_MINUTES, ...feed });
    await send('POST', `/list/${ACCOUNT}`, { name });
    await send('POST', `/list/${ACCOUNT}/${name}/feed`, { feed: name });
  };
  outside.setNews([{ id: 'first', text: 'The first of them' }]);
  outside.setRows([{ id: 'first', text: 'The first of them' }]);
  await follow('news', { provider: 'rss', settings: { url: `${outside.address}/news.xml`, drop_left_items: true } });
  const pagination = { kind: 'page', parameter: 'page', first: 1, size_parameter: 'size', size: 10 };
  const settings = { url: `${outside.address}/rows`, records: '$.rows', name: '$.id', pagination };
  await follow('interface', { provider: 'api', settings });
  if (s3 !== undefined) {
    const ask = bucketOf({ support, s3 });
    await ask('PUT');
    const access = { access_key_id: 'AKIATEST', secret_access_key: 'secret' };
    const place = { kind: 's3', endpoint: s3.endpoint, bucket: BUCKET };
    await operate('POST', `/media-store/${ACCOUNT}`, { name: 'bucket', ...place, prefix: 'own/', ...access });
    await operate('POST', `/media-store/${ACCOUNT}`, {
      name: 'followed-bucket',
      ...place,
      prefix: 'followed/',
      ...access,
    });
    await ask('PUT', '/followed/first.txt', 'text');
    await follow('bucket', { provider: 'media-store', settings: { store: 'followed-bucket' } });
  }
  if (mailServer !== undefined) {
    const mailbox = mailboxOf(mailServer);
    await mailbox.put(0, 'The first of them');
    const to = { host: 'localhost', port: mailServer.tlsPort, user: USER };
    await follow('mailbox', { provider: 'email', settings: to, secret: mailServer.password });
  }
}

export function makeSourceActors({ send, operate, outside, support, storeFolder, draw, mailServer, s3 }) {
  const { whole } = draw;
  const read = reading(send);
  let turns = 0;

  /** Syncs the feed of that name and its list, and checks that the list has the records of the feed. */
  async function followed(name, wanted) {
    const feed = await synced(send, name);
    same(`records of the feed ${name}`, feed.record_count, wanted);
    await send('POST', `/list/${ACCOUNT}/${name}/source/run`, undefined, { expect: [200, 202, 409] });
    await until(`the list ${name} has what its feed has`, async () => {
      const { record_count } = await read.list(name);
      return record_count === wanted;
    });
  }
  const found = (name, word) =>
    until(`${name} by a word of it`, async () => (await read.exactly(name, word)).json.total_count === 1);

  async function bucket() {
    const path = `/media/${ACCOUNT}/bucket/a folder/${whole(FILES_OF_BUCKET)}.bin`.replaceAll(' ', '%20');
    const bytes = Buffer.alloc(1 + whole(BYTES_OF_FILE), (turns += 1) & 255);
    await send('PUT', path, bytes, { type: 'application/octet-stream' });
    if (!(await send('GET', path)).bytes.equals(bytes)) throw new Error('a file of a bucket comes out otherwise');
    const to = Math.min(99, bytes.length - 1);
    const part = await send('GET', path, undefined, { headers: { range: `bytes=0-${to}` }, expect: [206] });
    same('bytes of a part', part.bytes.length, to + 1);
    const { files } = (await send('GET', `/media/${ACCOUNT}/bucket?prefix=a%20folder/`)).json;
    same('bytes that are listed', files.find((each) => path.endsWith(each.path.split('/')[1]))?.bytes, bytes.length);
    await send('DELETE', path);
    await send('GET', path, undefined, { expect: [404] });
  }

  const inBucket = new Set(['first.txt']);
  async function bucketFeed() {
    const ask = bucketOf({ support, s3 });
    const name = `${whole(FILES_OF_BUCKET)}.txt`;
    if (inBucket.has(name)) await ask('DELETE', `/followed/${name}`);
    else await ask('PUT', `/followed/${name}`, `text ${(turns += 1)}`);
    if (!inBucket.delete(name)) inBucket.add(name);
    await followed('bucket', inBucket.size);
  }

  let inMailbox = 1;
  async function mailbox() {
    const owner = mailboxOf(mailServer);
    const number = (turns += 1);
    const word = wordOf(number, 'zm');
    await owner.put(number, `It is about ${word}.`);
    inMailbox += 1;
    if (inMailbox > MESSAGES_MAX) {
      await owner.removeFirst();
      inMailbox -= 1;
    }
    await followed('mailbox', inMailbox);
    await found('mailbox', word);
  }

  const wordsOf = (kind, number, count) => Array.from({ length: count }, (_, at) => wordOf(number * 100 + at, kind));
  const items = (words) => words.map((word) => ({ id: `about-${word}`, text: `It is about ${word}` }));
  async function news() {
    const words = wordsOf('zn', (turns += 1), 1 + whole(15));
    outside.setNews(items(words));
    await followed('news', words.length);
    await found('news', words[0]);
  }
  async function asked() {
    const words = wordsOf('zi', (turns += 1), 1 + whole(ROWS));
    outside.setRows(items(words));
    await followed('interface', words.length);
    await found('interface', words.at(-1));
  }

  /** True while a list has a table in a media store as its source, which `fileSource` tests. */
  let hasSource = false;
  async function fileSource() {
    const [number, list] = [(turns += 1), 'table'];
    const words = wordsOf('zt', number, 1 + whole(ROWS));
    const rows = words.map((word, at) => `row-${at},${word}\n`);
    const path = `/media/${ACCOUNT}/default/table.csv`;
    await send('PUT', path, Buffer.from(`name,title\n${rows.join('')}`), { type: 'text/csv' });
    const source = `/list/${ACCOUNT}/${list}/source`;
    if (!hasSource) {
      const definition = { name: list, searchable_fields: fieldsOf('title') };
      await send('POST', `/list/${ACCOUNT}`, definition, { expect: [201, 409] });
      await send('POST', source, { media_store: 'default', path: 'table.csv', keep_in_sync: true });
      hasSource = true;
    } else await send('POST', `${source}/run`, undefined, { expect: [200, 202, 409] });
    await until('a list has the rows of its file', async () => (await read.list(list)).record_count === rows.length);
    await found(list, words.at(-1));
    same('the name of the source', (await send('GET', source)).json.path, 'table.csv');
    await send('PUT', source, { keep_in_sync: number % 2 === 0 });
    if (number % 5 !== 0) return;
    await send('DELETE', source);
    await send('GET', source, undefined, { expect: [404] });
    hasSource = false;
  }

  async function discover() {
    const settings = { start_urls: [`${outside.address}/`], depth_max: 1, sitemaps: [] };
    const { pages } = (await operate('POST', `/feed/${ACCOUNT}/web/discover`, { settings })).json;
    if (pages.length < 2) throw new Error('a website has no more than a page');
    await operate('PUT', `/feed/${ACCOUNT}/site/interval`, { interval_minutes: INTERVAL_MINUTES - whole(2) });
    await operate('PUT', `/feed/${ACCOUNT}/site/web-scope`, { settings: { ...settings, depth_max: 20 } });
  }

  /** Connects a feed, moves it to another store, and deletes it. */
  async function feedLife() {
    const [name, store] = [`passing-${(turns += 1)}`, `passing-store-${turns}`];
    const settings = { url: `${outside.address}/news.xml` };
    await operate('POST', `/feed/${ACCOUNT}/connect`, {
      name,
      provider: 'rss',
      settings,
      interval_minutes: INTERVAL_MINUTES,
    });
    await synced(send, name);
    await send('GET', `/media/${ACCOUNT}/default/feeds/${name}.sync`);
    await operate('POST', `/media-store/${ACCOUNT}`, { name: store, kind: 'folder', folder: storeFolder });
    await operate('POST', `/feed/${ACCOUNT}/${name}/move`, { media_store: store });
    await send('GET', `/media/${ACCOUNT}/${store}/feeds/${name}.sync`);
    await send('GET', `/media/${ACCOUNT}/default/feeds/${name}.sync`, undefined, { expect: [404] });
    await operate('DELETE', `/feed/${ACCOUNT}/${name}`);
    await send('GET', `/feed/${ACCOUNT}/${name}`, undefined, { expect: [404] });
    await operate('DELETE', `/media-store/${ACCOUNT}/${store}`);
  }

  const always = { news, interface: asked, fileSource, discover, feedLife };
  const actions = {
    ...always,
    ...(s3 === undefined ? {} : { bucket, bucketFeed }),
    ...(mailServer === undefined ? {} : { mailbox }),
  };
  const rates = Object.fromEntries(Object.entries(RATES).filter(([name]) => Object.hasOwn(actions, name)));
  return { actions, rates };
}
