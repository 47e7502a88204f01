/** Tests what a person retries in a real browser: deliveries that were set aside, and records that a model refused. */
import { afterAll, expect, it } from 'vitest';
import { describeConsole } from '../support/console.js';
import { answering, startScriptedModel, wellBehaved } from '../support/scripted-model.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import type { TestService } from '../support/service.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const env = {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_WEBHOOKS_RETRY_SECONDS: '1',
  GANNET_WEBHOOKS_QUEUE_RETRY_MINUTES: '',
  GANNET_WEBHOOKS_JITTER_PERCENT: '0',
};
const BAD = 'poison';
let model: ScriptedServer | undefined;
let receiver: WebhookReceiver | undefined;

async function fill(service: TestService): Promise<void> {
  [model, receiver] = await Promise.all([startScriptedModel(), WebhookReceiver.start()]);
  // The model refuses it by its text; other texts of the batch are sent again without it.
  model.script = (asked, response) => {
    if (asked.body.includes(BAD)) answering(422, '{"detail": "This text is refused."}')(asked, response);
    else wellBehaved(asked, response);
  };
  const added = { name: 'scripted', provider: 'openai', url: model.url('/v1'), served_name: 'served' };
  expect((await service.control().post('/model/default', added)).status).toBe(201);
  const list = { name: 'birds', searchable_fields: [{ name: 'title' }], model: 'scripted' };
  expect((await service.client.post('/list/default', list)).status).toBe(201);
  await service.client.bulk('default', 'birds', [
    { name: 'gannet', title: 'The northern gannet' },
    { name: 'dart-frog', title: `Full of ${BAD}` },
  ]);
}
afterAll(async () => {
  await Promise.all([model?.close(), receiver?.close()]);
});

describeConsole('retries in the console', { env, fill }, (its) => {
  const button = (name: string) => its.page.getByRole('button', { name, exact: true });
  const busy = (path: string) =>
    its.page.route(path, (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: JSON.stringify({
          type: 'about:blank',
          title: 'No',
          status: 503,
          code: 'overloaded',
          detail: 'It is busy.',
        }),
      }),
    );
  const coverage = async () => {
    const { body } = await its.service.client.get('/list/default/birds');
    return (body as { meaning: { embedded: number; failed: number } }).meaning;
  };

  it('send the deliveries again that were set aside, and the log shows it', async () => {
    const taken = receiver as WebhookReceiver;
    taken.answering = (_delivery, response) => response.writeHead(500).end('not now');
    const { body } = await its.service.client.post('/webhook', { url: taken.url(), events: ['list.created'] });
    const { id } = body as { id: string };
    await its.service.client.send('POST', `/webhook/default/${id}/test`);
    await its.visit(`webhooks?webhook=${id}`);
    await its.page.getByText('Failed deliveries set aside: 1.').waitFor();
    const log = its.page.getByRole('table', { name: 'Deliveries' });
    await log.getByText('Set aside').waitFor();
    await busy(`**/webhook/default/${id}/replay`);
    await button('Send again').click();
    await its.page.getByText('It is busy.').waitFor();
    await its.page.unroute(`**/webhook/default/${id}/replay`);
    const before = taken.received.length;
    taken.answering = (_delivery, response) => response.writeHead(204).end();
    await button('Send again').click();
    await its.page.getByText('Failed deliveries set aside: 1.').waitFor({ state: 'detached' });
    await log.getByText('Delivered').waitFor();
    const deliveries = taken.received.map(({ headers }) => headers['x-service-delivery']);
    expect(deliveries).toHaveLength(before + 1);
    expect(new Set(deliveries).size, 'it keeps its id').toBe(1);
  });

  it('embed the records without vectors once the model accepts them', async () => {
    await expect.poll(coverage, { timeout: 100_000 }).toMatchObject({ embedded: 1, failed: 1 });
    await its.visit('list/birds/settings');
    await its.page.getByText('1 record has a vector, 0 waiting, 1 failed.').waitFor();
    await busy('**/list/embed-retry/default/birds');
    await button('Retry failed records').click();
    await its.page.getByText('It is busy.').waitFor();
    await its.page.unroute('**/list/embed-retry/default/birds');
    (model as ScriptedServer).script = wellBehaved;
    await button('Retry failed records').click();
    await its.page.getByText('Retrying 1 record.').waitFor();
    await expect.poll(coverage, { timeout: 100_000 }).toMatchObject({ embedded: 2, failed: 0 });
    await its.page.getByText('2 records have vectors, 0 waiting, 0 failed.').waitFor();
    expect(await button('Retry failed records').count()).toBe(0);
  });
});
