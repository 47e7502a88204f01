/** Tests that the scheme of a URL may be in capitals (RFC 3986, 3.1), wherever a URL is given. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

let service: TestService;
let receiver: WebhookReceiver;
beforeAll(async () => {
  const env = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' };
  [service, receiver] = await Promise.all([startTestService({ env }), WebhookReceiver.start()]);
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

it.each([
  ['HTTP', 'films'],
  ['Http', 'books'],
])('A webhook at %s:// is called', async (scheme, list) => {
  const path = `/hook-${list}`;
  const url = receiver.url(path).replace(/^http/u, scheme);
  const made = await service.client.post('/webhook', { url, events: ['list.created'] });
  expect(made.status, made.text).toBe(201);
  const created = await service.client.post('/list/default', { name: list, searchable_fields: [{ name: 'title' }] });
  expect(created.status, created.text).toBe(201);
  await eventually(
    () => Promise.resolve(receiver.received.filter((each) => each.path === path)),
    (received) => received.length > 0,
  );
});

it('A model, a media store and a webhook accept HTTPS in capitals, and still no other scheme', async () => {
  const at = (scheme: string) => ({
    model: {
      name: `m-${scheme.toLowerCase()}`,
      provider: 'openai',
      url: `${scheme}://127.0.0.1:9/v1`,
      served_name: 'x',
    },
    store: {
      name: `s-${scheme.toLowerCase()}`,
      kind: 's3',
      endpoint: `${scheme}://127.0.0.1:9`,
      bucket: 'files',
      access_key_id: 'id',
      secret_access_key: 'secret',
    },
    webhook: { url: `${scheme}://127.0.0.1:9/`, events: ['list.created'] },
  });
  const statuses = async (scheme: string) => {
    const { model, store, webhook } = at(scheme);
    const control = service.control();
    const answers = [
      await control.post('/model/default', model),
      await control.post('/media-store/default', store),
      await service.client.post('/webhook', webhook),
    ];
    return answers.map(({ status, text }) => `${status} ${status === 400 ? text.slice(0, 200) : ''}`.trim());
  };
  // The service asks the model for its dimensions, and nothing listens there.
  expect(await statuses('HTTPS')).toEqual(['422', '201', '201']);
  for (const status of await statuses('FTP')) expect(status).toMatch(/^400 /);
});
