/**
 * Actors that use other features during a soak: groups, rules, models, files, pictures, feeds, stores, keys, people and agents. Like the
 * actors of actors.mjs, each knows what should come of its work.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import sharp from 'sharp';
import { ACCOUNT } from '../end-to-end/lib/service.mjs';
import { sceneOf } from '../pictures/scenes.mjs';
import { LIST, VECTORS } from './actors.mjs';
import { fieldsOf, same, until, wordOf } from './tools.mjs';

const GROUP = 'all';
const LEARNED = 'learned';
const PAPERS = 'papers';
const GALLERY = 'gallery';
const PICTURE_GROUP = 'pictures';
const FOLLOWED = 'followed';
const FEED = 'site';
const RECORDS_OF_MODEL = 300;
const FILES = 100;
const PICTURES = 60;
const PICTURE_SIDE = 160;
/** Interval of feeds, so long that they are only due when a sync is requested or the clock has jumped. */
const INTERVAL_MINUTES = 1440;

/** Rate of each actor per second. */
const RATES = {
  groupSearch: 3,
  groupSuggest: 1,
  related: 1,
  learnedSearch: 2,
  learnedWrite: 1,
  list: 1,
  agent: 1 / 2,
  document: 1 / 5,
  picture: 1 / 5,
  progress: 1 / 5,
  webhook: 1 / 15,
  apiKey: 1 / 20,
  feed: 1 / 30,
  queryRules: 1 / 30,
  contributor: 1 / 30,
  mediaStore: 1 / 45,
  group: 1 / 60,
  check: 1 / 90,
  secrets: 1 / 300,
};

/** Creates lists, a group, models and a feed before the actors begin. */
export async function prepareFeatures({ send, gannet, outside }) {
  const post = (path, body) => send('POST', path, body);
  const to = ['--account', ACCOUNT];
  const vectors = ['--provider', 'openai', '--url', `${outside.address}/v1`, '--served-name', 'vectors'];
  await gannet('model', 'add', 'vectors', ...to, ...vectors, '--tokens-max', '512');
  const reranker = ['--kind', 'reranker', '--provider', 'rerank', '--url', `${outside.address}/rerank`];
  await gannet('model', 'add', 'reranker', ...to, ...reranker);
  const models = { model: 'vectors', reranker: 'reranker' };
  await post(`/list/${ACCOUNT}`, { name: LEARNED, searchable_fields: fieldsOf('title'), ...models });
  const document = { name: 'file', kind: 'document' };
  await post(`/list/${ACCOUNT}`, { name: PAPERS, searchable_fields: fieldsOf('title'), resources: [document] });
  const pictures = { image_model: 'built-in', resources: [{ name: 'picture', kind: 'image' }] };
  await post(`/list/${ACCOUNT}`, { name: GALLERY, searchable_fields: fieldsOf('title'), ...pictures });
  await post(`/list-group/${ACCOUNT}`, { name: PICTURE_GROUP, lists: [{ list: GALLERY }] });
  await post(`/list/${ACCOUNT}`, { name: FOLLOWED });
  const settings = { start_urls: [`${outside.address}/`], depth_max: 20, sitemaps: [] };
  const feed = { name: FEED, provider: 'website', interval_minutes: INTERVAL_MINUTES, settings };
  await post(`/feed/${ACCOUNT}/connect`, feed);
  await post(`/list/${ACCOUNT}/${FOLLOWED}/feed`, { feed: FEED });
  await post(`/list-group/${ACCOUNT}`, { name: GROUP, lists: [{ list: LIST }, { list: PAPERS }] });
}

/** Returns `{ actions, rates, close }`. `operate` sends as the command line does, `storeFolder` is the folder of a media store, `lists.version` is the version of the list `words`. */
export async function makeFeatureActors(given) {
  const { send, operate, gannet, outside, support, queries, records, lists, address, key, storeFolder } = given;
  const { whole, some } = given.draw;
  let turns = 0;
  /** Searches a list. `list` is its name and version. */
  const search = (list, query, more = {}) =>
    send('GET', `/search/${ACCOUNT}/${list}?${new URLSearchParams({ query, ...more })}`);
  const agents = new Client({ name: 'soak', version: '1' });
  const headers = { 'X-API-Key': key };
  await agents.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`), { requestInit: { headers } }));

  const upload = (path, bytes, type) => send('PUT', `/media/${ACCOUNT}/default/${path}`, bytes, { type });
  const firstName = ({ json }) => json.results[0]?.name;

  const actions = {
    async groupSearch() {
      const { json } = await send(
        'GET',
        `/search/group/${ACCOUNT}/${GROUP}/latest?${new URLSearchParams({ query: some(queries) })}`,
      );
      if (json.results.some(({ list_name }) => list_name === undefined)) throw new Error('a hit has no list');
    },
    groupSuggest: () => send('POST', `/suggest/group/${ACCOUNT}/${GROUP}/latest`, { query: some(queries).slice(0, 4) }),
    group: () => {
      const members = [LIST, PAPERS, ...(++turns % 2 === 0 ? [] : [LEARNED, VECTORS])];
      return send('PUT', `/list-group/${ACCOUNT}/${GROUP}`, { lists: members.map((list) => ({ list })) });
    },
    related: () =>
      send('GET', `/related/${ACCOUNT}/${LIST}/${lists.version}/${encodeURIComponent(some(records).name)}`),
    list: () => send('GET', `/search-result/${ACCOUNT}/${LIST}?size=50&skip=${whole(1000)}`),
    queryRules: () => {
      const rules = [{ name: 'nouns', pattern: some(queries), filter: "part_of_speech = 'noun'" }];
      return send('PUT', `/list/${ACCOUNT}/${LIST}`, { query_rules: rules }, { expect: [200, 409] });
    },
    async learnedSearch() {
      const { json } = await search(`${LEARNED}/1`, some(queries), { cache: 'false' });
      if (json.total_count > 1 && json.applied.reranker === null) throw new Error('results are not reranked');
    },
    learnedWrite: () => {
      const name = `m${whole(RECORDS_OF_MODEL)}`;
      return send('POST', `/search-result/${ACCOUNT}/${LEARNED}`, { name, fields: { title: some(queries) } });
    },
    async document() {
      const [number, word] = [whole(FILES), wordOf((turns += 1))];
      await upload(`papers/${number}.pdf`, support.pdfOf([{ lines: [`It is about ${word}.`] }]), 'application/pdf');
      const fields = { title: `Paper ${number}`, file: `media:default/papers/${number}.pdf` };
      await send('POST', `/search-result/${ACCOUNT}/${PAPERS}`, { name: `paper-${number}`, fields });
      const found = () => search(`${PAPERS}/1`, word, { match: 'all', typo_tolerance: 'false', cache: 'false' });
      await until(`paper-${number} by a word of its file`, async () => firstName(await found()) === `paper-${number}`);
    },
    async picture() {
      const number = whole(PICTURES);
      const bytes = await sharp(Buffer.from(sceneOf((turns += 1))))
        .resize(PICTURE_SIDE)
        .png()
        .toBuffer();
      await upload(`gallery/${number}.png`, bytes, 'image/png');
      const fields = { title: `Picture ${number}`, picture: `media:default/gallery/${number}.png` };
      await send('POST', `/search-result/${ACCOUNT}/${GALLERY}`, { name: `picture-${number}`, fields });
      const found = () => send('POST', `/search/image/${ACCOUNT}/${GALLERY}/1`, bytes, { type: 'image/png' });
      await until(`picture-${number} by itself`, async () => firstName(await found()) === `picture-${number}`);
      const inGroup = await send('POST', `/search/image/group/${ACCOUNT}/${PICTURE_GROUP}/latest`, bytes, {
        type: 'image/png',
      });
      same('a picture in a group', firstName(inGroup), `picture-${number}`);
    },
    async feed() {
      outside.change();
      // A sync that is due by the clock may be in progress.
      await send('POST', `/feed/${ACCOUNT}/${FEED}/sync`, undefined, { expect: [200, 202, 409] });
      const state = async () => (await send('GET', `/feed/${ACCOUNT}/${FEED}`)).json.status;
      await until('the website is read', async () => (await state()) === 'Synced');
      const found = async () => {
        // The fields of the first pages make a new version.
        const { current_version } = (await send('GET', `/list/${ACCOUNT}/${FOLLOWED}`)).json;
        return (await search(`${FOLLOWED}/${current_version}`, 'gannets', { cache: 'false' })).json.total_count;
      };
      await until('pages of the website are found', async () => (await found()) > 0);
    },
    async mediaStore() {
      const name = `store-${(turns += 1)}`;
      await send('POST', `/media-store/${ACCOUNT}`, { name, kind: 'folder', folder: storeFolder });
      const path = `/media/${ACCOUNT}/${name}/a/${turns}.txt`;
      await send('PUT', path, Buffer.from('text'), { type: 'text/plain' });
      const { json } = await send('GET', `/media/${ACCOUNT}/${name}`);
      if (json.files.length === 0) throw new Error('a file that was just put is not listed');
      await operate('PUT', `/media-store/${ACCOUNT}/${name}`, { folder: storeFolder });
      same('a store that was changed', (await send('GET', `/media-store/${ACCOUNT}/${name}`)).json.folder, storeFolder);
      await send('DELETE', path);
      await send('DELETE', `/media-store/${ACCOUNT}/${name}`);
    },
    async apiKey() {
      const wanted = { name: `key-${(turns += 1)}`, access: 'search-and-read' };
      const { json } = await operate('POST', `/api-key/${ACCOUNT}`, wanted);
      await send('GET', `/search/${ACCOUNT}/${LIST}/${lists.version}?query=sea`, undefined, { as: json.key });
      await operate('DELETE', `/api-key/${ACCOUNT}/${json.id}`);
      await send('GET', `/search/${ACCOUNT}/${LIST}/${lists.version}?query=sea`, undefined, {
        as: json.key,
        expect: [401],
      });
    },
    async contributor() {
      const wanted = { email: `someone-${(turns += 1)}@example.com`, role: 'editor' };
      const { json } = await operate('POST', `/contributor/${ACCOUNT}`, wanted);
      await operate('DELETE', `/contributor/${ACCOUNT}/${json.id}`);
    },
    async webhook() {
      const { json } = await send('GET', `/webhook/${ACCOUNT}`);
      // Another actor may have deleted the webhook since.
      for (const { id } of json.webhooks)
        await operate('GET', `/webhook/${ACCOUNT}/${id}/deliveries`, undefined, [200, 404]);
    },
    async agent() {
      const found = await agents.callTool({ name: 'search_list', arguments: { list: LIST, query: some(queries) } });
      if (found.isError === true) throw new Error(JSON.stringify(found.content).slice(0, 200));
    },
    progress: () => send('GET', `/progress/${ACCOUNT}`),
    check: () => operate('POST', `/list/${ACCOUNT}/${LIST}/check`),
    secrets: () => gannet('call', 'secret.check'),
  };
  return { actions, rates: RATES, close: () => agents.close() };
}
