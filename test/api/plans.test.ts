/** Tests plans: their limits are counted exactly, also with concurrent writes. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, ServiceClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const run = promisify(execFile);
const SETTINGS = {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_PLANS_OFFERED: [
    'tiny records=100 lists=3 feeds=1',
    'one records=10 lists=2 successor=two',
    'two records=40 lists=4 successor=three',
    'three records=100 lists=5',
    'disk storage_bytes=1000000',
    'asked searches_a_month=5',
    'closed records=0 lists=1 feeds=0 successor=two',
  ].join(','),
};

let service: TestService;
let control: ServiceClient;
beforeAll(async () => {
  service = await startTestService({ env: SETTINGS });
  control = service.control();
});
afterAll(() => service.close());

let lastAccount = 0;

async function made(answer: Promise<Answer>): Promise<Answer> {
  const got = await answer;
  expect(got.status, got.text).toBeLessThan(300);
  return got;
}

/** Creates an account on a plan, with lists. */
async function accountOn(plan: string, lists = ['things']): Promise<string> {
  const account = `account-${(lastAccount += 1)}`;
  await made(control.post('/account', { name: account }));
  for (const list of lists) await made(control.post(`/list/${account}`, { name: list }));
  await made(control.put(`/plan/${account}`, { plan }));
  return account;
}

interface Usage {
  readonly plan: string;
  readonly usage: Readonly<Record<string, { readonly used: number; readonly limit: number | null }>>;
}

async function usageOf(account: string): Promise<Usage> {
  return (await made(control.get(`/plan/${account}`))).body as Usage;
}

const codeOf = ({ body }: Answer) => (body as { code?: string }).code;
const records = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => `{"name":"r${first + i}","title":"thing ${first + i}"}`).join('\n');

function bulk(account: string, list: string, body: string): Promise<Answer> {
  return control.send('POST', `/search-result/${account}/${list}/bulk`, {
    bytes: body,
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
}

const add = (account: string, list: string, name: string) =>
  control.post(`/search-result/${account}/${list}`, { name, fields: { title: name } });

describe('records', () => {
  it('are counted exactly during concurrent writes into three lists, and refused beyond the limit', async () => {
    const lists = ['a', 'b', 'c'];
    const account = await accountOn('tiny', lists);
    const answers = await Promise.all(
      Array.from({ length: 240 }, (_, i) => add(account, lists[i % lists.length] as string, `r${i}`)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    expect(new Set(answers.filter(({ status }) => status !== 201).map(codeOf))).toEqual(new Set(['plan-limit']));
    expect((await usageOf(account)).usage['records']).toEqual({ used: 100, limit: 100 });

    // Existing records can be changed and deleted, and a deletion makes room for just one more.
    const index = statuses.indexOf(201);
    const list = lists[index % lists.length] as string;
    const { id } = (answers[index] as Answer).body as { id: string };
    await made(control.put(`/search-result/${account}/${list}/${id}`, { fields: { title: 'changed' } }));
    await made(add(account, list, `r${index}`));
    await made(control.delete(`/search-result/${account}/${list}/${id}`));
    const again = await Promise.all(Array.from({ length: 5 }, (_, i) => add(account, 'a', `more-${i}`)));
    expect(again.filter(({ status }) => status === 201)).toHaveLength(1);
    const search = await control.post(`/search/${account}/${list}/1`, { query: 'r' });
    expect(search.status, search.text).toBe(200);
  });

  it('of concurrent imports fill the plan as far as whole batches fit, and replaced records need no room', async () => {
    const account = await accountOn('tiny', ['a', 'b']);
    await made(bulk(account, 'a', records(0, 60)));
    const answers = await Promise.all([
      bulk(account, 'a', records(0, 60)),
      bulk(account, 'b', records(0, 30)),
      bulk(account, 'b', records(100, 30)),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 402]);
    expect((await usageOf(account)).usage['records']?.used).toBe(90);
    await made(bulk(account, 'a', records(60, 10)));
    const full = await bulk(account, 'a', records(70, 1));
    expect(full.status).toBe(402);
    expect((full.body as { detail: string }).detail).toContain("'tiny' has room for 100 records");
  });

  it('of a copied list count like others', async () => {
    const account = await accountOn('tiny');
    await made(bulk(account, 'things', records(0, 60)));
    expect(codeOf(await control.post(`/list/${account}/things/clone`, { name: 'copy' }))).toBe('plan-limit');
    expect((await control.get(`/list/${account}/copy`)).status).toBe(404);
    await made(bulk(account, 'things', records(0, 40)));
    expect((await usageOf(account)).usage['records']?.used).toBe(60);
    await made(control.delete(`/list/${account}/things`));
    expect((await usageOf(account)).usage['records']?.used).toBe(0);
  });
});

describe('the automatic upgrade', () => {
  it('switches to the successor near a limit, sends an event, and refuses only at the last plan', async () => {
    const receiver = await WebhookReceiver.start();
    try {
      const account = await accountOn('one');
      await made(control.post('/webhook', { account, url: receiver.url(), events: ['subscription.auto-upgraded'] }));
      for (let i = 0; i < 8; i += 1) await made(add(account, 'things', `r${i}`));
      expect((await usageOf(account)).plan).toBe('one');
      await made(add(account, 'things', 'r8'));
      await eventually(
        () => usageOf(account),
        ({ plan }) => plan === 'two',
      );
      await receiver.events(1);
      // A batch that fits only into the last plan.
      await made(bulk(account, 'things', records(0, 80)));
      expect((await usageOf(account)).plan).toBe('three');
      expect((await bulk(account, 'things', records(100, 30))).status).toBe(402);
      const told = await receiver.events(2);
      expect(told.map(([, { data }]) => data)).toEqual([
        { from_plan: 'one', to_plan: 'two' },
        { from_plan: 'two', to_plan: 'three' },
      ]);
    } finally {
      await receiver.close();
    }
  });

  it('happens when a new list needs it, once for many simultaneous requests', async () => {
    const account = await accountOn('one', []);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => control.post(`/list/${account}`, { name: `l${i}` })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(3);
    const { plan, usage } = await usageOf(account);
    expect([plan, usage['lists']]).toEqual(['three', { used: 5, limit: 5 }]);
  });

  it('does not happen on a plan with a limit of zero before something is created', async () => {
    const account = await accountOn('closed', []);
    await made(control.put(`/plan/${account}`, { plan: 'closed' }));
    expect((await usageOf(account)).plan).toBe('closed');
    await made(control.post(`/list/${account}`, { name: 'things' }));
    await made(control.put(`/plan/${account}`, { plan: 'closed' }));
  });
});

describe('a plan at its limit', () => {
  it('of storage refuses additions and changes, but allows searches and deletions', async () => {
    const account = await accountOn('disk');
    // The commit that exceeds the limit is not refused, as its size is known only afterwards. One record is always
    // one commit, whereas an import of this size is written in more commits on a slower machine.
    const random = new SeededRandom(7);
    const title = Array.from({ length: 200_000 }, () => `word${random.below(1_000_000)}`).join(' ');
    await made(bulk(account, 'things', JSON.stringify({ name: 'large', title })));
    const { used } = (await usageOf(account)).usage['storage_bytes'] as { used: number };
    expect(used).toBeGreaterThan(1_000_000);
    expect(codeOf(await bulk(account, 'things', records(0, 1)))).toBe('plan-limit');
    const upload = await control.send('PUT', `/media/${account}/default/a.txt`, { bytes: 'text' });
    expect(codeOf(upload)).toBe('plan-limit');
    const page = (await made(control.post(`/search/${account}/things/1`, {}))).body;
    const [hit] = (page as { results: { id: string }[] }).results;
    expect(codeOf(await control.patch(`/search-result/${account}/things/${hit?.id}`, { fields: { a: 1 } }))).toBe(
      'plan-limit',
    );
    await made(control.delete(`/search-result/${account}/things/${hit?.id}`));
    await made(control.put(`/plan/${account}`, { plan: 'default' }));
    await made(bulk(account, 'things', records(0, 1)));
  });

  it('of searches a month allows further searches, and refuses writes until the next month', async () => {
    const account = await accountOn('asked');
    await made(add(account, 'things', 'first'));
    for (let i = 0; i < 6; i += 1) await made(control.post(`/search/${account}/things/1`, { query: 'first' }));
    await made(control.post(`/search/${account}/things/1`, { query: 'first', skip: 10 }));
    expect((await usageOf(account)).usage['searches_a_month']).toEqual({ used: 6, limit: 5 });
    expect(codeOf(await add(account, 'things', 'second'))).toBe('plan-limit');
    expect(codeOf(await control.post(`/list/${account}`, { name: 'another' }))).toBe('plan-limit');
    await made(control.post(`/search/${account}/things/1`, { query: 'first' }));
  });
});

describe('an account', () => {
  it('without a plan has no limits, and a new account does not inherit the plan of a deleted one', async () => {
    const account = `account-${(lastAccount += 1)}`;
    await made(control.post('/account', { name: account }));
    const free = await usageOf(account);
    expect(free.plan).toBe('default');
    expect(Object.values(free.usage).map(({ limit }) => limit)).toEqual([null, null, null, null, null]);
    await made(control.put(`/plan/${account}`, { plan: 'tiny' }));
    await made(control.delete(`/account/${account}`));
    await made(control.post('/account', { name: account }));
    expect((await usageOf(account)).plan).toBe('default');
  });

  it('is put on a plan only by the command line, and only on a plan that exists', async () => {
    const account = await accountOn('tiny');
    expect(codeOf(await control.put(`/plan/${account}`, { plan: 'huge' }))).toBe('unprocessable');
    expect((await control.put('/plan/nobody', { plan: 'tiny' })).status).toBe(404);
    expect(codeOf(await service.client.put('/plan/default', { plan: 'tiny' }))).toBe('console-only');
    const reader = await service.clientFor({ access: 'read-all' });
    expect((await reader.get('/plan/default')).status).toBe(200);
    expect((await reader.get('/plan')).status).toBe(200);
    const env = { ...process.env, ...SETTINGS, GANNET_DATA_DIR: service.dataDir };
    const gannet = async (...args: string[]) =>
      (await run(process.execPath, ['bin/gannet.js', ...args], { env })).stdout;
    expect(await gannet('plan', 'set', 'one', '--account', account)).toContain("Plan 'one', near a limit 'two'");
    expect(await gannet('plan', 'show', '--account', account)).toMatch(/records\s+0\s+10\b/);
    expect(await gannet('plan', 'list')).toMatch(/tiny\s+100\s+-\s+-\s+3\s+1\s+-/);
  });
});

describe('plan after a kill', () => {
  it('is kept at the next start, which counts the records that are stored', async () => {
    const account = await accountOn('tiny', ['a', 'b']);
    const writes = Array.from({ length: 30 }, (_, i) =>
      add(account, i % 2 === 0 ? 'a' : 'b', `r${i}`).then(
        ({ status }) => status,
        () => 0,
      ),
    );
    await writes[0];
    await service.stop('SIGKILL');
    const answered = (await Promise.all(writes)).filter((status) => status === 201).length;
    await service.start();
    control = service.control();
    const { plan, usage } = await usageOf(account);
    expect(plan).toBe('tiny');
    const used = usage['records']?.used ?? 0;
    expect(used).toBeGreaterThanOrEqual(answered);
    const left = await Promise.all(Array.from({ length: 120 }, (_, i) => add(account, 'a', `after-${i}`)));
    expect(left.filter(({ status }) => status === 201)).toHaveLength(100 - used);
  });
});
