/** Actors that maintain a service: rebuilding indexes, restoring backups, webhooks, secrets, agents with tools, and read-only operations. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { ACCOUNT, startService } from '../end-to-end/lib/service.mjs';
import { LIST, VECTORS } from './actors.mjs';
import { fieldsOf, reading, same, until, wordOf } from './tools.mjs';

const PAGES = 'pages';
const SAID = 'Gannets dive from thirty metres';
const RESTING = 'resting';
const RESTING_RECORDS = 500;
const TOOLS_MIN = 40;
const WATCHED_RECORDS = 300;
const BYTES_OF_FILE = 50_000;
/** Event that never occurs, so that a webhook for it only gets pings. */
const QUIET_EVENT = 'eval.run-completed';

const RATES = {
  reindex: 1 / 240,
  rebuildVectors: 1 / 300,
  storedBackup: 1 / 300,
  restore: 1 / 600,
  hook: 1 / 45,
  secretKeys: 1 / 600,
  tools: 1 / 30,
  watch: 1 / 30,
  lookOn: 1 / 15,
  ranges: 1 / 10,
  readAgain: 1 / 120,
};

/** Creates lists that do not change, by which a restored service is checked. */
export async function prepareUpkeep({ send, support, storeFolder }) {
  await send('POST', `/list/${ACCOUNT}`, { name: RESTING, searchable_fields: fieldsOf('title') });
  const records = Array.from({ length: RESTING_RECORDS }, (_, at) => ({
    name: `r${at}`,
    title: `resting ${wordOf(at, 'zr')}`,
  }));
  await reading(send).bulk(RESTING, records);
  const resources = [{ name: 'file', kind: 'document' }];
  await send('POST', `/list/${ACCOUNT}`, {
    name: PAGES,
    searchable_fields: fieldsOf('title'),
    resources,
    model: 'own',
  });
  await send('PUT', `/media/${ACCOUNT}/default/pages.pdf`, support.pdfOf([{ lines: [SAID] }]), {
    type: 'application/pdf',
  });
  await send('POST', `/search-result/${ACCOUNT}/${PAGES}`, {
    name: 'paper',
    fields: { title: 'Paper', file: 'media:default/pages.pdf' },
  });
  await send('POST', `/media-store/${ACCOUNT}`, { name: 'nightly', kind: 'folder', folder: storeFolder });
}

export function makeUpkeepActors({
  send,
  operate,
  gannet,
  outside,
  draw,
  address,
  key,
  agent,
  backups,
  whileBackingUp,
  storeFolder,
}) {
  const { whole } = draw;
  const read = reading(send);
  let turns = 0;

  async function rebuilt(list) {
    const path = `/list/${ACCOUNT}/${list}`;
    const before = (await read.list(list)).record_count;
    // A rebuild is refused while a version is being built.
    const { status, json } = await operate('POST', `${path}/reindex`, undefined, [200, 409]);
    if (status === 409) return;
    const { ok, problems } = (await operate('POST', `${path}/check`)).json;
    if (!ok) throw new Error(`after its index was made anew, the list ${list} has ${JSON.stringify(problems)}`);
    if (list === VECTORS || list === RESTING)
      same(`records of ${list}`, [json.records, before], [before, (await read.list(list)).record_count]);
  }

  async function storedBackup() {
    const place = 'media:nightly/of-all';
    const made = JSON.parse(await gannet('backup', place, '--keep', '2', '--json'));
    same('what could not be copied', made.damaged, []);
    const listed = (await operate('GET', `/backup?${new URLSearchParams({ folder: place })}`)).json;
    same('backups that cannot be read', listed.unreadable, []);
    if (listed.backups.length > 2) throw new Error(`${listed.backups.length} backups are kept instead of 2`);
    const checked = (await operate('GET', `/backup/check?${new URLSearchParams({ folder: place })}`)).json;
    same(
      'problems of backups',
      checked.backups.flatMap(({ problems }) => problems),
      [],
    );
  }

  /** Restores a backup, and checks that a service on it answers as this one does. */
  async function restore() {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-soak-restored-'));
    const dataDir = join(folder, 'data');
    try {
      await whileBackingUp(async () => {
        const { path } = JSON.parse(await gannet('backup', backups, '--keep', '2', '--json'));
        await gannet.in(dataDir, 'restore', path);
      });
      const env = {
        GANNET_MEDIA_FOLDERS: storeFolder,
        GANNET_MEMORY_MIB: '512',
        GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
      };
      const other = await startService(dataDir, env);
      try {
        const ask = async (path) => {
          const answer = await request(`${other.address}${path}`, { headers: { 'x-api-key': key }, dispatcher: agent });
          if (answer.statusCode !== 200)
            throw new Error(`a restored service answers ${answer.statusCode} to ${path}: ${await answer.body.text()}`);
          return /** @type {any} */ (await answer.body.json());
        };
        same('records that were restored', (await ask(`/list/${ACCOUNT}/${RESTING}`)).record_count, RESTING_RECORDS);
        const at = whole(RESTING_RECORDS);
        const found = await ask(
          `/search/${ACCOUNT}/${RESTING}/1?query=${wordOf(at, 'zr')}&match=all&typo_tolerance=false`,
        );
        same(
          'what is found in them',
          found.results.map(({ name }) => name),
          [`r${at}`],
        );
        const { current_version } = await ask(`/list/${ACCOUNT}/${LIST}`);
        await ask(`/search/${ACCOUNT}/${LIST}/${current_version}?query=sea`);
      } finally {
        await other.stop();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Tests a webhook from its first ping to its deletion, with a receiver that refuses at first. */
  async function hook() {
    const path = `/hook/${(turns += 1)}`;
    const wanted = { account: ACCOUNT, url: `${outside.address}${path}`, events: [QUIET_EVENT] };
    const { id, secret } = (await operate('POST', '/webhook', wanted)).json;
    const one = `/webhook/${ACCOUNT}/${id}`;
    same('a secret that is shown again', (await operate('GET', `${one}/secret`)).json.secret, secret);
    const attempts = async () => (await operate('GET', `${one}/deliveries?size=100`)).json.attempts;
    outside.state.isRefusing = true;
    try {
      await operate('POST', `${one}/test`);
      await until('a receiver that refuses is in the log', async () => (await attempts()).length > 0);
    } finally {
      outside.state.isRefusing = false;
    }
    await until('a ping arrives', async () => outside.state.pings.get(path) >= 1);
    await until('the delivery is in the log', async () =>
      (await attempts()).some(({ outcome }) => outcome === 'delivered'),
    );
    await operate('PUT', one, { url: `${outside.address}${path}/again`, events: [QUIET_EVENT] });
    await operate('POST', `${one}/rotate-secret`);
    await operate('POST', `${one}/test`);
    await until('a ping arrives where the webhook is now', async () => outside.state.pings.get(`${path}/again`) === 1);
    same('what was set aside', (await operate('GET', `${one}/set-aside`)).json.total_count, 0);
    same('what is sent again', (await operate('POST', `${one}/replay`, {})).json.replayed, 0);
    await operate('DELETE', one);
    await operate('GET', one, undefined, [404]);
    outside.state.pings.clear();
  }

  async function secretKeys() {
    await gannet('call', 'secret.rotate');
    await gannet('call', 'secret.check');
  }

  /** Connects an agent that creates and deletes a list. */
  async function tools() {
    const list = `by-agent-${(turns += 1)}`;
    const mode = turns % 2 === 0 ? 'auto' : 'legacy';
    const client = new Client({ name: 'soak', version: '1' }, { versionNegotiation: { mode } });
    const headers = { 'X-API-Key': key };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`), { requestInit: { headers } }));
    try {
      const call = async (name, given) => {
        const { content, isError } = /** @type {any} */ (await client.callTool({ name, arguments: given }));
        const text = content.map((part) => part.text ?? '').join('');
        if (isError === true) throw new Error(`the tool ${name}: ${text.slice(0, 200)}`);
        return text.startsWith('{') ? JSON.parse(text) : text;
      };
      const { tools: told } = await client.listTools();
      if (told.length < TOOLS_MIN) throw new Error(`${told.length} tools are told`);
      await call('list_create', { name: list, searchable_fields: fieldsOf('title') });
      await call('search_result_create', { list, body: { name: 'a', fields: { title: 'One of them' } } });
      const content = '{"name":"b","title":"Two of them"}\n{"name":"c","title":"Three of them"}\n';
      same('records of an agent', (await call('search_result_bulk', { list, content })).created, 2);
      same('what an agent finds', (await call('search_list', { list, query: 'them' })).total_count, 3);
      await call('list_set_synonyms', { list, rules: [{ kind: 'equivalent', terms: ['uno', 'one'] }] });
      same(
        'what an agent finds by a rule',
        (await call('search_list', { list, query: 'uno' })).results.map(({ name }) => name),
        ['a'],
      );
      await call('list_delete', { list });
    } finally {
      await client.close();
    }
    await send('GET', `/list/${ACCOUNT}/${list}`, undefined, { expect: [404] });
  }

  /** Watches the progress events, and gets those of an import. */
  async function watch() {
    const name = `watched-${(turns += 1)}`;
    await send('POST', `/list/${ACCOUNT}`, { name, searchable_fields: fieldsOf('title') });
    const ended = new AbortController();
    const answer = await request(`${address}/progress/${ACCOUNT}/events?name=${name}`, {
      headers: { 'x-api-key': key },
      signal: ended.signal,
      dispatcher: agent,
    });
    const timer = setTimeout(() => ended.abort(new Error('nothing of an import is told')), 60_000);
    try {
      let told = '';
      for await (const chunk of answer.body) {
        const isFirst = told === '';
        told += String(chunk);
        if (isFirst)
          void read
            .bulk(
              name,
              Array.from({ length: WATCHED_RECORDS }, (_, at) => ({ name: `w${at}`, title: 'watched' })),
            )
            .catch((error) => ended.abort(error));
        if (told.includes(`"${name}"`)) break;
      }
      if (!told.includes(`"${name}"`)) throw new Error('nothing of an import is told');
    } finally {
      clearTimeout(timer);
      answer.body.destroy();
    }
    await until(
      'an import that was watched is whole',
      async () => (await read.list(name)).record_count === WATCHED_RECORDS,
    );
    await send('DELETE', `/list/${ACCOUNT}/${name}`);
  }

  const LOOKS = [
    '/ready',
    '/health',
    '/openapi.json',
    '/account',
    '/webhook/events',
    ...['list', 'feed', 'media-store', 'webhook', 'list-group', 'progress'].map((what) => `/${what}/${ACCOUNT}`),
    `/media-store/${ACCOUNT}/default`,
    `/facet/${ACCOUNT}/${LIST}`,
    `/searchable-field/${ACCOUNT}/${LIST}`,
    `/resource/${ACCOUNT}/${PAGES}`,
    `/suggest/${ACCOUNT}/${RESTING}/1?query=res`,
    `/suggest/group/${ACCOUNT}/all/latest?query=gan`,
  ];
  async function lookOn() {
    for (const path of LOOKS) await send('GET', path);
    for (const path of ['/metrics', '/plan', `/plan/${ACCOUNT}`, `/model/${ACCOUNT}`, `/service/settings/${ACCOUNT}`])
      await operate('GET', path);
    const { problems } = (await operate('POST', `/media-store/${ACCOUNT}/default/check`)).json;
    same('problems of the media store', problems, []);
  }

  async function ranges() {
    const path = `/media/${ACCOUNT}/default/ranges/${whole(20)}.bin`;
    const bytes = Buffer.alloc(1000 + whole(BYTES_OF_FILE), (turns += 1) & 255);
    await send('PUT', path, bytes, { type: 'application/octet-stream' });
    const all = await send('GET', path);
    if (!all.bytes.equals(bytes)) throw new Error('a file comes out otherwise');
    await send('GET', path, undefined, { headers: { 'if-none-match': String(all.headers.etag) }, expect: [304] });
    const part = await send('GET', path, undefined, { headers: { range: 'bytes=100-199' }, expect: [206] });
    if (!part.bytes.equals(bytes.subarray(100, 200))) throw new Error('a part of a file comes out otherwise');
    await send('DELETE', path);
    await send('GET', path, undefined, { expect: [404] });
  }

  /** Has a document read again, and checks its text. */
  async function readAgain() {
    await send('POST', `/list/resources-refresh/${ACCOUNT}/${PAGES}`);
    await until('the text of a document is there', async () => {
      const { documents } = (await send('GET', `/search-result/document-text/${ACCOUNT}/${PAGES}/paper`)).json;
      return documents[0]?.state === 'read' && documents[0].pages[0].text.includes(SAID);
    });
  }

  const actions = {
    reindex: () => rebuilt(LIST),
    rebuildVectors: async () => {
      await rebuilt(VECTORS);
      await rebuilt(RESTING);
    },
    storedBackup: () => whileBackingUp(storedBackup),
    restore,
    hook,
    secretKeys,
    tools,
    watch,
    lookOn,
    ranges,
    readAgain,
  };
  return { actions, rates: RATES };
}
