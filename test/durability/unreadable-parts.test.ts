/**
 * Tests a disk that can no longer be read under something other than lists while the service runs: the service keeps
 * running, nothing acknowledged is lost or set aside, and all is complete when the disk can be read again.
 */
import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { canMountFaulty, FaultyFileSystem } from '../support/faulty-file-system.js';
import { TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const SETTINGS = {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_ANALYTICS_FLUSH_MS: '50',
  GANNET_ANALYTICS_ROLL_UP_SECONDS: '1',
  // A report waits for what must be written before it.
  GANNET_ANALYTICS_REPORT_MS_MAX: '2000',
  // By default, the fifth attempt at a delivery comes a minute after the fourth, and the sixth five minutes later: a busy machine gets so far before
  // the receiver accepts them.
  GANNET_WEBHOOKS_RETRY_SECONDS: Array.from({ length: 20 }, () => 4).join(','),
  GANNET_WEBHOOKS_QUEUE_RETRY_MINUTES: Array.from({ length: 50 }, () => 1).join(','),
};
const EVENTS = 30;
const SEARCHES = 20;

let root: string;
let dataDir: string;
let disk: FaultyFileSystem;
let service: TestService;
let receiver: WebhookReceiver;

let hook: string;
/** Names of lists whose events were delivered. */
let delivered: Set<string>;

const makeList = async (name: string) =>
  expect((await service.client.post('/list/default', { name })).status).toBe(201);
const ready = () => service.client.get('/ready');
const search = () => service.client.get('/search/default/films/1', { query: 'word' });

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a disk that cannot be read',
  () => {
    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-unreadable-parts-'));
      dataDir = join(root, 'on');
      disk = await FaultyFileSystem.mount(join(root, 'under'), dataDir);
      delivered = new Set();
      receiver = await WebhookReceiver.start();
      service = new TestService(dataDir, { dataDir, env: SETTINGS });
      await service.start();
      const { client } = service;
      expect(
        (await client.post('/list/default', { name: 'films', searchable_fields: [{ name: 'title' }] })).status,
      ).toBe(201);
      expect((await client.bulk('default', 'films', [{ name: 'a', title: 'word' }])).status).toBe(200);
    });
    afterEach(async () => {
      await service.stop('SIGKILL');
      await disk.unmount();
      await receiver.close();
      rmSync(root, { recursive: true, force: true });
    });

    /** Deliveries are refused at first, so that they wait in the queue. */
    async function fillQueue(): Promise<void> {
      const { client } = service;
      receiver.answering = (_delivery, response) => response.writeHead(503).end();
      const made = await client.post('/webhook', {
        url: receiver.url(),
        events: ['list.created', 'searchresult.created'],
      });
      expect(made.status, made.text).toBe(201);
      hook = (made.body as { readonly id: string }).id;
      for (let number = 0; number < EVENTS; ++number) await makeList(`list-${number}`);
      await eventually(
        () => service.metric('gannet_webhook_deliveries_queued'),
        (count) => count >= EVENTS,
      );
    }
    const deliver = () => {
      receiver.answering = ({ body: { data } }, response) => {
        delivered.add(String(data['name']));
        response.writeHead(204).end();
      };
    };
    const asidesIn = (folder: string) =>
      readdirSync(join(dataDir, folder)).filter((name) => name.includes('.damaged-'));
    const logged = (text: string) =>
      eventually(
        () => Promise.resolve(service.output),
        (output) => output.includes(text),
      );

    it('under the webhook queue keeps all deliveries, and they are sent without a restart', async () => {
      await fillQueue();
      await disk.fail(['read'], 'EIO', '/queue/data.mdb');
      await disk.forget();
      await makeList('later');
      await logged('The queue of deliveries is left as it is');
      // Threads that start with the damaged queue end as well.
      await eventually(
        () => service.metric('gannet_worker_deaths_total{pool="webhook"}').catch(() => 0),
        (deaths) => deaths >= 2,
      );
      expect((await search()).status).toBe(200);
      // Such requests were answered 500, and each started a thread that read the queue and ended.
      for (const path of ['deliveries', 'set-aside'])
        for (let asked = 0; asked < 5; ++asked)
          expect(await service.control().get(`/webhook/default/${hook}/${path}`)).toMatchObject({
            status: 503,
            body: { code: 'not-ready', detail: expect.stringContaining('opened again by itself') },
          });
      expect((await service.control().send('POST', `/webhook/default/${hook}/test`)).status).toBe(503);
      expect(service.output.split('is left as it is').length).toBeLessThan(4);
      expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready', unreadable: ['queue'] } });
      const doctor = await gannet(dataDir, 'doctor');
      expect(doctor.output).toMatch(/Databases.*the disk cannot read queue/u);
      // What a list still had to send used to be deleted with the list if the queue could not be read.
      expect((await service.client.post('/search-result/default/later', { name: 'told' })).status).toBe(201);
      expect((await service.client.delete('/list/default/later')).status).toBe(204);
      deliver();
      await disk.heal();
      await eventually(
        () => Promise.resolve(delivered.size),
        (count) => count === EVENTS + 2,
      );
      expect(delivered).toContain('told');
      expect(asidesIn('.')).toEqual([]);
      expect((await ready()).body).toEqual({ status: 'ready' });
    });

    it('under the webhook queue is reported as readable again, even if the last webhook was deleted meanwhile', async () => {
      await fillQueue();
      await disk.fail(['read'], 'EIO', '/queue/data.mdb');
      await disk.forget();
      await makeList('later');
      const isTold = (body: unknown) =>
        eventually(
          () => ready(),
          (answer) => isDeepStrictEqual(answer.body, body),
        );
      await isTold({ status: 'ready', unreadable: ['queue'] });
      expect((await service.control().delete(`/webhook/default/${hook}`)).status).toBe(204);
      await disk.heal();
      await isTold({ status: 'ready' });
      expect(asidesIn('.')).toEqual([]);
    });

    it('under a webhook queue that was cut off begins a new one, and the log names the old one', async () => {
      await fillQueue();
      truncateSync(join(dataDir, 'queue', 'data.mdb'), 3 * 4096);
      await makeList('later');
      await logged('it was set aside as');
      const [aside] = asidesIn('.');
      expect(aside).toBeDefined();
      expect((await ready()).body).toEqual({ status: 'ready', set_aside: [aside] });
      expect((await gannet(dataDir, 'doctor')).output).toContain(aside);
      deliver();
      await makeList('last');
      await eventually(
        () => Promise.resolve([...delivered]),
        (names) => names.includes('last'),
      );
    });

    it('under the webhook queue that cannot be written moves each event there as soon as possible', async () => {
      await fillQueue();
      await disk.fail(['write', 'sync'], 'EIO', '/queue/data.mdb');
      await makeList('later');
      await logged('could not be moved into the queue');
      deliver();
      await disk.heal();
      await eventually(
        () => Promise.resolve(delivered.size),
        (count) => count === EVENTS + 1,
      );
      expect(asidesIn('.')).toEqual([]);
    });

    const report = () => service.client.get('/analytics/list/default/films');
    const counted = (searches: number) =>
      eventually(report, ({ status, body }) => {
        return status === 200 && (body as { total_searches: number }).total_searches === searches;
      });

    it('under analytics keeps the counts, and later adds the searches of that time', async () => {
      for (let searches = 0; searches < SEARCHES; ++searches) await search();
      await counted(SEARCHES);
      await disk.fail(['read'], 'EIO', '/analytics/events/data.mdb');
      await disk.forget();
      for (let searches = 0; searches < SEARCHES; ++searches) expect((await search()).status).toBe(200);
      await logged('The analytics storage is left as it is');
      expect(await report()).toMatchObject({ status: 503, body: { code: 'analytics-unavailable' } });
      expect((await ready()).body).toEqual({ status: 'ready', unreadable: ['analytics/events'] });
      await disk.heal();
      await counted(2 * SEARCHES);
      expect(asidesIn('analytics')).toEqual([]);
      expect((await ready()).body).toEqual({ status: 'ready' });
    });

    it('under analytics that were cut off counts on in a new storage', async () => {
      for (let searches = 0; searches < SEARCHES; ++searches) await search();
      await counted(SEARCHES);
      truncateSync(join(dataDir, 'analytics', 'events', 'data.mdb'), 3 * 4096);
      expect((await search()).status).toBe(200);
      await logged('it was set aside as');
      await counted(1);
      expect(asidesIn('analytics')).toHaveLength(1);
    });
  },
);
