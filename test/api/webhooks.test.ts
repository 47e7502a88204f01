/** Tests webhooks from outside: subscriptions, events, signatures, and what the console shows of them. */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import type { ServiceClient } from '../support/client.js';
import { startTestService, type TestService } from '../support/service.js';
import { WebhookReceiver, type Received } from '../support/webhook-receiver.js';

const SETTINGS = {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_WEBHOOKS_RETRY_SECONDS: '1',
  GANNET_WEBHOOKS_QUEUE_RETRY_MINUTES: '',
  GANNET_WEBHOOKS_JITTER_PERCENT: '0',
};

interface CreatedWebhook {
  readonly id: string;
  readonly secret: string;
}

let service: TestService;
let receiver: WebhookReceiver;
let control: ServiceClient;
let nextPath = 0;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestService({ env: SETTINGS }), WebhookReceiver.start()]);
  control = service.control();
  await service.client.post('/list/default', { name: 'films', searchable_fields: [{ name: 'title' }] });
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

/** Creates a webhook at a path of its own. */
async function subscribe(events: readonly string[]): Promise<CreatedWebhook & { readonly path: string }> {
  const path = `/hook-${(nextPath += 1)}`;
  const { status, text, body } = await service.client.post('/webhook', { url: receiver.url(path), events });
  expect(status, text).toBe(201);
  return { ...(body as CreatedWebhook), path };
}

async function ok(answer: Promise<{ status: number; text: string; body: unknown }>): Promise<unknown> {
  const { status, text, body } = await answer;
  expect(status, text).toBeLessThan(300);
  return body;
}

/** Returns what came to the path, once there are this many. */
async function deliveries(path: string, count: number): Promise<Received[]> {
  return eventually(
    () => Promise.resolve(receiver.at(path)),
    (found) => found.length >= count,
  );
}

describe('subscriptions', () => {
  it('are created with a secret that is shown once, listed, changed and deleted', async () => {
    const { id, secret, path } = await subscribe(['searchresult.created']);
    expect(Buffer.from(secret, 'base64')).toHaveLength(32);
    const url = receiver.url(path);
    const resource = { id, account: 'default', url, events: ['searchresult.created'], previous_secret_until: null };
    const read = await service.client.get(`/webhook/default/${id}`);
    expect(read).toMatchObject({ status: 200, body: resource });
    const listed = await service.client.get('/webhook/default');
    expect((listed.body as { webhooks: CreatedWebhook[] }).webhooks).toContainEqual(read.body);
    const changed = await service.client.put(`/webhook/default/${id}`, { events: ['list.deleted', 'list.created'] });
    expect(changed).toMatchObject({ status: 200, body: { ...resource, events: ['list.deleted', 'list.created'] } });
    for (const { text } of [read, listed, changed]) expect(text).not.toContain(secret);
    expect((await service.client.delete(`/webhook/default/${id}`)).status).toBe(204);
    const gone = { status: 404, body: { code: 'webhook-not-found' } };
    expect(await service.client.get(`/webhook/default/${id}`)).toMatchObject(gone);
    expect(await service.client.put(`/webhook/default/${id}`, {})).toMatchObject(gone);
    expect(await service.client.delete(`/webhook/default/${id}`)).toMatchObject(gone);
    expect(await service.client.send('POST', `/webhook/default/${id}/test`)).toMatchObject(gone);
    expect(service.output).not.toContain(secret);
  });

  it('accept every event type of the service document, and refuse others', async () => {
    const { status, body } = await service.client.get('/webhook/events');
    expect(status).toBe(200);
    const types = (body as { events: { type: string }[] }).events.map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining([
        ...['searchresult.created', 'searchresult.updated', 'searchresult.deleted', 'searchresult.bulk-created'],
        ...['list.created', 'list.updated', 'list.deleted', 'facet.renamed', 'searchable-field.renamed'],
        ...['resource.renamed', 'media.uploaded', 'media.deleted', 'media-store.created', 'media-store.deleted'],
        ...['api-key.created', 'api-key.deleted', 'contributor.added', 'contributor.removed', 'eval.run-completed'],
        ...['eval.run-regressed', 'subscription.auto-upgraded', 'webhook.ping'],
      ]),
    );
    const refused = await service.client.post('/webhook', { url: receiver.url(), events: ['list.create'] });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('list.created');
    for (const events of [[], ['list.created', 'list.created'], 'list.created']) {
      expect((await service.client.post('/webhook', { url: receiver.url(), events })).status).toBe(400);
    }
  });

  it('refuse URLs outside the public internet, also when the URL is changed', async () => {
    const { id } = await subscribe(['list.created']);
    for (const url of [
      'http://example.com/',
      'https://10.0.0.1/',
      'https://[::ffff:a9fe:a9fe]/',
      'https://router/',
      'x',
    ]) {
      const refused = { status: 400, body: { code: 'invalid-parameter', errors: [{ pointer: '/url' }] } };
      expect(await service.client.post('/webhook', { url, events: ['list.created'] }), url).toMatchObject(refused);
      expect(await service.client.put(`/webhook/default/${id}`, { url }), url).toMatchObject(refused);
    }
  });

  it('need the permission and the account as scope, and the console for what only it may do', async () => {
    const { id } = await subscribe(['list.created']);
    const body = { url: receiver.url(), events: ['list.created'] };
    const ofList = await service.clientFor({ scope: 'list', scope_target: 'films', access: 'full' });
    expect(await ofList.post('/webhook', body)).toMatchObject({ status: 403, body: { code: 'out-of-scope' } });
    expect(await ofList.get('/webhook/default')).toMatchObject({ status: 403, body: { code: 'out-of-scope' } });
    const reader = await service.clientFor({ permissions: ['webhook:read'] });
    expect((await reader.get(`/webhook/default/${id}`)).status).toBe(200);
    expect(await reader.post('/webhook', body)).toMatchObject({ status: 403, body: { code: 'missing-permission' } });
    const elsewhere = { ...body, account: 'other' };
    expect(await service.client.post('/webhook', elsewhere)).toMatchObject({ status: 403 });
    expect(await control.post('/webhook', body)).toMatchObject({ status: 400 });
    expect(await control.post('/webhook', elsewhere)).toMatchObject({ status: 404 });
    const consoleOnly = { status: 403, body: { code: 'console-only' } };
    expect(await service.client.get(`/webhook/default/${id}/deliveries`)).toMatchObject(consoleOnly);
    expect(await service.client.get(`/webhook/default/${id}/set-aside`)).toMatchObject(consoleOnly);
    expect(await service.client.post(`/webhook/default/${id}/replay`, {})).toMatchObject(consoleOnly);
    expect(await service.client.send('POST', `/webhook/default/${id}/rotate-secret`)).toMatchObject(consoleOnly);
    expect(await service.client.get(`/webhook/default/${id}/secret`)).toMatchObject(consoleOnly);
  });

  it('show their secret again only on the console and the command line, also after a rotation', async () => {
    const { id, secret } = await subscribe(['list.created']);
    const shown = await control.get(`/webhook/default/${id}/secret`);
    expect(shown).toMatchObject({ status: 200, body: { id, secret } });
    expect(shown.headers['cache-control']).toBe('no-store');
    const { secret: rotated } = (await ok(
      control.send('POST', `/webhook/default/${id}/rotate-secret`),
    )) as CreatedWebhook;
    expect((await control.get(`/webhook/default/${id}/secret`)).body).toMatchObject({ secret: rotated });
    expect((await control.get(`/webhook/default/${id}`)).body).not.toHaveProperty('secret');
    expect(await control.get('/webhook/default/none/secret')).toMatchObject({ status: 404 });
  });
});

describe('a delivery', () => {
  it('is signed as the service document and Standard Webhooks specify', async () => {
    const { id, secret, path } = await subscribe(['list.created']);
    const { delivery } = (await ok(service.client.send('POST', `/webhook/default/${id}/test`))) as { delivery: string };
    const [ping] = await deliveries(path, 1);
    if (ping === undefined) throw new Error('no ping came');
    expect(ping.headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-event': 'webhook.ping',
      'x-service-delivery': delivery,
    });
    const timestamp = String(ping.headers['x-service-timestamp']);
    expect(Math.abs(Number(timestamp) * 1000 - ping.atMs)).toBeLessThan(60_000);
    const hmac = createHmac('sha256', Buffer.from(secret, 'base64')).update(`${timestamp}.${ping.text}`).digest('hex');
    expect(ping.headers['x-service-signature']).toBe(`sha256=${hmac}`);
    expect(ping.headers['x-service-signature-previous']).toBeUndefined();
    expect(new Webhook(secret).verify(ping.text, ping.headers as Record<string, string>)).toEqual(ping.body);
    expect(ping.headers['webhook-id']).toBe(delivery);
    expect(Object.keys(ping.body)).toEqual(['id', 'list', 'data']);
  });

  it('is signed with both secrets after a rotation', async () => {
    const { id, secret: old, path } = await subscribe(['list.created']);
    const rotated = (await ok(control.send('POST', `/webhook/default/${id}/rotate-secret`))) as CreatedWebhook & {
      previous_secret_until: string;
    };
    expect(rotated.secret).not.toBe(old);
    const hours = (Date.parse(rotated.previous_secret_until) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24);
    await ok(service.client.send('POST', `/webhook/default/${id}/test`));
    const [ping] = await deliveries(path, 1);
    if (ping === undefined) throw new Error('no ping came');
    for (const secret of [old, rotated.secret]) {
      new Webhook(secret).verify(ping.text, ping.headers as Record<string, string>);
    }
    const signed = (secret: string) =>
      `sha256=${createHmac('sha256', Buffer.from(secret, 'base64'))
        .update(`${String(ping.headers['x-service-timestamp'])}.${ping.text}`)
        .digest('hex')}`;
    expect(ping.headers['x-service-signature']).toBe(signed(rotated.secret));
    expect(ping.headers['x-service-signature-previous']).toBe(signed(old));
  });

  it('that fails is retried with the same id, then set aside, listed and replayed', async () => {
    const { id, secret, path } = await subscribe(['list.created']);
    receiver.answering = (delivery, response) =>
      delivery.path === path ? response.writeHead(500).end('x'.repeat(3000)) : response.writeHead(204).end();
    await ok(service.client.send('POST', `/webhook/default/${id}/test`));
    const setAside = await eventually(
      async () =>
        (await control.get(`/webhook/default/${id}/set-aside`)).body as { deliveries: { delivery: string }[] },
      ({ deliveries: found }) => found.length === 1,
    );
    expect(setAside).toMatchObject({
      total_count: 1,
      next: null,
      deliveries: [{ event: 'webhook.ping', attempts: 2, status: 500, error: null }],
    });
    const [first, second] = receiver.at(path);
    const delivery = setAside.deliveries[0]?.delivery;
    expect(first?.headers['x-service-delivery']).toBe(delivery);
    expect(second?.headers['x-service-delivery']).toBe(delivery);
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(900);

    const log = await control.get(`/webhook/default/${id}/deliveries`);
    const answer = 'x'.repeat(1024);
    expect(log.body).toMatchObject({
      next: null,
      attempts: [
        { delivery, attempt: 2, status: 500, answer, outcome: 'set-aside' },
        { delivery, attempt: 1, status: 500, answer, outcome: 'retried' },
      ],
    });
    expect(log.text).not.toContain(secret);

    receiver.answering = (_delivery, response) => response.writeHead(200).end('fine');
    expect(await control.post(`/webhook/default/${id}/replay`, { deliveries: ['another'] })).toMatchObject({
      body: { replayed: 0 },
    });
    expect(await control.post(`/webhook/default/${id}/replay`, {})).toMatchObject({ body: { replayed: 1 } });
    const third = (await deliveries(path, 3))[2];
    expect(third?.headers['x-service-delivery']).toBe(delivery);
    type Page = { attempts: { outcome: string }[]; next: number };
    const after = await eventually(
      async () => (await control.get(`/webhook/default/${id}/deliveries`, { size: 1 })).body as Page,
      ({ attempts }) => attempts[0]?.outcome === 'delivered',
    );
    expect(after).toMatchObject({ attempts: [{ attempt: 1, status: 200, answer: 'fine' }] });
    const older = await control.get(`/webhook/default/${id}/deliveries`, { size: 1, before: after.next });
    expect(older.body).toMatchObject({ attempts: [{ attempt: 2, outcome: 'set-aside' }], next: after.next - 1 });
    expect((await control.get(`/webhook/default/${id}/set-aside`)).body).toMatchObject({ total_count: 0 });
  });
});

describe('events', () => {
  it('of records report creation, updates, renaming and deletion in order, and a bulk call as one', async () => {
    const { path } = await subscribe([
      ...['searchresult.created', 'searchresult.updated', 'searchresult.deleted', 'searchresult.bulk-created'],
    ]);
    const records = '/search-result/default/films';
    const { id } = (await ok(service.client.post(records, { name: 'alien', fields: { title: 'Alien' } }))) as {
      id: string;
    };
    await ok(service.client.post(records, { name: 'alien', fields: { title: 'Alien 2' } }));
    await ok(service.client.patch(`${records}/${id}`, { fields: { title: 'Aliens' } }));
    await ok(service.client.put(`${records}/${id}`, { name: 'aliens', fields: { title: 'Aliens' } }));
    await ok(service.client.delete(`${records}/${id}`));
    await ok(
      service.client.bulk('default', 'films', [
        { name: 'a', title: 'A' },
        { name: 'b', title: 'B' },
      ]),
    );
    await ok(
      service.client.bulk('default', 'films', [{ name: 'a', title: 'A' }, { name: 'c', title: 'C' }, { name: 7 }]),
    );
    const found = await deliveries(path, 7);
    const told = found.map(({ headers, body }) => [headers['x-service-event'], body] as const);
    // Events of a record come in order; the summaries of bulk calls belong to no record, and may overtake each other.
    expect(told.filter(([, body]) => body.id === id)).toEqual([
      ['searchresult.created', { id, list: 'films', data: { name: 'alien', fields: { title: 'Alien' } } }],
      ['searchresult.updated', { id, list: 'films', data: { name: 'alien', fields: { title: 'Alien 2' } } }],
      ['searchresult.updated', { id, list: 'films', data: { name: 'alien', fields: { title: 'Aliens' } } }],
      [
        'searchresult.updated',
        { id, list: 'films', data: { name: 'aliens', fields: { title: 'Aliens' }, previous_name: 'alien' } },
      ],
      ['searchresult.deleted', { id, list: 'films', data: { name: 'aliens', fields: { title: 'Aliens' } } }],
    ]);
    const summaries = told.filter(([, body]) => body.id === '');
    expect(
      summaries.toSorted(([, one], [, other]) => Number(one.data['updated']) - Number(other.data['updated'])),
    ).toEqual([
      ['searchresult.bulk-created', { id: '', list: 'films', data: { count: 2, created: 2, updated: 0 } }],
      ['searchresult.bulk-created', { id: '', list: 'films', data: { count: 2, created: 1, updated: 1 } }],
    ]);
    expect(new Set(found.map(({ headers }) => headers['x-service-delivery'])).size).toBe(7);
  });

  it('of lists, groups and fields are sent, with previous_name after a renaming', async () => {
    const { path } = await subscribe([
      ...['list.created', 'list.updated', 'list.deleted', 'facet.created', 'facet.renamed', 'facet.deleted'],
      ...['facet.updated', 'searchable-field.renamed'],
    ]);
    const { client } = service;
    await ok(client.post('/list/default', { name: 'books', searchable_fields: [{ name: 'title' }], facets: [] }));
    await ok(client.post('/facet/default/books', { name: 'year', type: 'number' }));
    await ok(client.put('/facet/default/books/year', { cardinality: 'Many' }));
    await ok(client.put('/facet/default/books/year', { name: 'published' }));
    await ok(client.delete('/facet/default/books/published'));
    await ok(client.put('/searchable-field/default/books/title', { name: 'heading' }));
    await ok(client.put('/list/synonyms/default/books', { rules: [{ kind: 'equivalent', terms: ['a', 'b'] }] }));
    await ok(client.post('/list-group/default', { name: 'media', lists: [{ list: 'books' }] }));
    await eventually(
      async () => (await client.get('/list/default/books')).body as { versions: { state: string }[] },
      ({ versions }) => versions.every(({ state }) => state === 'ready'),
    );
    await ok(client.delete('/list/default/books'));
    await ok(client.delete('/list-group/default/media'));
    const isLast = ({ headers, body }: Received) =>
      headers['x-service-event'] === 'list.deleted' && body.data['kind'] === 'group';
    const found = await eventually(
      () => Promise.resolve(receiver.at(path)),
      (all) =>
        // Events of the list, of its fields and of the group come in any order.
        all.some(isLast) &&
        all.some(({ headers, body }) => headers['x-service-event'] === 'list.deleted' && body.id === 'books') &&
        all.some(({ headers, body }) => headers['x-service-event'] === 'list.updated' && body.id === 'media') &&
        all.filter(({ headers }) => !String(headers['x-service-event']).startsWith('list.')).length >= 5 &&
        ['current_version', 'synonym_rules'].every((changed) =>
          all.some(({ body }) => String(body.data['changed']) === changed),
        ),
    );
    const told = found.map(({ headers, body }) => [headers['x-service-event'], body] as const);
    // Events of different fields may overtake each other.
    const inOrder = (events: readonly unknown[]) => events.map((each) => JSON.stringify(each)).sort();
    const ofFields = told.filter(([type]) => !String(type).startsWith('list.'));
    expect(inOrder(ofFields).map((each) => JSON.parse(each) as unknown)).toEqual([
      ['facet.created', { id: 'year', list: 'books', data: { name: 'year', type: 'number', cardinality: 'Single' } }],
      [
        'facet.deleted',
        { id: 'published', list: 'books', data: { name: 'published', type: 'number', cardinality: 'Many' } },
      ],
      [
        'facet.renamed',
        {
          id: 'published',
          list: 'books',
          data: { name: 'published', type: 'number', cardinality: 'Many', previous_name: 'year' },
        },
      ],
      ['facet.updated', { id: 'year', list: 'books', data: { name: 'year', type: 'number', cardinality: 'Many' } }],
      [
        'searchable-field.renamed',
        { id: 'heading', list: 'books', data: { name: 'heading', weight: 1, previous_name: 'title' } },
      ],
    ]);
    const of = (type: string, kind: string) =>
      told.filter(([each, body]) => each === type && body.data['kind'] === kind);
    expect(of('list.created', 'list')[0]?.[1]).toMatchObject({
      id: 'books',
      list: 'books',
      data: { name: 'books', language: 'en', searchable_fields: [{ name: 'title', weight: 1 }], facets: [] },
    });
    expect(of('list.updated', 'list').map(([, body]) => body.data['changed'])).toContainEqual(['synonym_rules']);
    expect(of('list.updated', 'list').map(([, body]) => body.data['changed'])).toContainEqual(['current_version']);
    expect(of('list.deleted', 'list')).toHaveLength(1);
    expect(of('list.created', 'group')[0]?.[1]).toEqual({
      id: 'media',
      list: '',
      data: { kind: 'group', name: 'media', lists: [{ list: 'books' }], current_version: 1, reranker: null },
    });
    expect(of('list.updated', 'group')[0]?.[1].data).toMatchObject({ lists: [], current_version: 2 });
    expect(of('list.deleted', 'group')).toHaveLength(1);
  });

  it('of API keys do not contain the key', async () => {
    const { path } = await subscribe(['api-key.created', 'api-key.deleted']);
    const { id, key } = await service.createKey({ name: 'told', access: 'read-all' });
    await ok(control.delete(`/api-key/default/${id}`));
    const [created, deleted] = await deliveries(path, 2);
    expect(created?.headers['x-service-event']).toBe('api-key.created');
    expect(created?.body).toMatchObject({ id, list: '', data: { name: 'told', scope: 'account' } });
    expect(deleted?.headers['x-service-event']).toBe('api-key.deleted');
    for (const each of [created, deleted]) expect(each?.text).not.toContain(key.slice(8));
  });

  it('go to each webhook that subscribed to them, to no other, and to none created later', async () => {
    const [first, second, other] = [
      await subscribe(['api-key.created']),
      await subscribe(['api-key.created', 'list.created']),
      await subscribe(['api-key.deleted']),
    ];
    await service.createKey({ name: 'one' });
    const [a] = await deliveries(first.path, 1);
    const [b] = await deliveries(second.path, 1);
    expect(a?.text).toBe(b?.text);
    expect(a?.headers['x-service-delivery']).not.toBe(b?.headers['x-service-delivery']);
    const late = await subscribe(['api-key.created']);
    await service.createKey({ name: 'two' });
    expect((await deliveries(late.path, 1))[0]?.body.data['name']).toBe('two');
    expect(receiver.at(other.path)).toEqual([]);
  });

  it('of a deletion by filter are one for each record', async () => {
    await ok(service.client.post('/list/default', { name: 'parts', facets: [{ name: 'kind', type: 'string' }] }));
    const { path } = await subscribe(['searchresult.deleted']);
    const records = Array.from({ length: 25 }, (_, n) => ({ name: `p${n}`, kind: n < 20 ? 'old' : 'new' }));
    await ok(service.client.bulk('default', 'parts', records));
    await ok(service.client.delete('/search-result/default/parts', { filter: "kind = 'old'" }));
    const found = await deliveries(path, 20);
    expect(new Set(found.map(({ body }) => body.data['name'])).size).toBe(20);
    // Events that a list has not sent yet are sent after its deletion.
    await ok(service.client.delete('/search-result/default/parts', { filter: "kind = 'new'" }));
    await ok(service.client.delete('/list/default/parts'));
    expect(await deliveries(path, 25)).toHaveLength(25);
  });

  it('are sent after a restart of the service', async () => {
    const { path } = await subscribe(['api-key.created']);
    receiver.answering = (delivery, response) => response.writeHead(delivery.path === path ? 503 : 204).end();
    await service.createKey({ name: 'before the restart' });
    const [first] = await deliveries(path, 1);
    await service.stop('SIGKILL');
    receiver.answering = (_delivery, response) => response.writeHead(204).end();
    await service.start();
    control = service.control();
    // Others may come in between, of keys that were created meanwhile.
    const isAgain = ({ headers }: Received) => headers['x-service-delivery'] === first?.headers['x-service-delivery'];
    const same = await eventually(
      () => Promise.resolve(receiver.at(path).filter(isAgain)),
      (found) => found.length >= 2,
    );
    expect(same[1]?.text).toBe(first?.text);
  });
});
