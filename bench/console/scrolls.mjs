/** Scrolls large pages of the console, and measures the longest time in milliseconds without a new frame. */

const LOGGED = 2000;
const DAYS = 366;
const STEPS = 240;
const STEP_PIXELS = 400;
const RECORD_PAGES = 20;
/** Time after which a page that draws no frame is given up. */
const FRAME_MS_MAX = 60_000;

/** Scrolls all pages. `visit(path)` resolves when the page is loaded. Returns `{what, ms}` for each. */
export async function longestPauses(page, visit) {
  // A page in the background draws nothing.
  await page.bringToFront();
  return [
    { what: `a log of ${LOGGED} deliveries, scrolled to its end`, ms: await logPause(page, visit) },
    { what: `${DAYS} days of analytics, with their table`, ms: await daysPause(page, visit) },
    { what: `${RECORD_PAGES} pages of records, one after the other`, ms: await recordsPause(page, visit) },
  ];
}

async function logPause(page, visit) {
  const id = '01936f2e-8c5a-7000-8000-000000000000';
  const webhook = { id, url: 'https://example.com/hook', events: ['list.created'], created_utc: isoOf(0) };
  await page.route('**/webhook/default?**', (route) => route.fulfill({ json: { webhooks: [webhook] } }));
  await page.route(`**/webhook/default/${id}/set-aside**`, (route) =>
    route.fulfill({ json: { total_count: 0, deliveries: [] } }),
  );
  await page.route(`**/webhook/default/${id}/deliveries**`, (route) => {
    const { searchParams } = new URL(route.request().url());
    const before = Number(searchParams.get('before') ?? LOGGED);
    const size = Math.min(Number(searchParams.get('size')), before);
    const attempts = Array.from({ length: size }, (_, index) => attemptOf(before - index));
    return route.fulfill({ json: { attempts, ...(before > size ? { next: before - size } : {}) } });
  });
  await visit(`webhooks?webhook=${id}`);
  await page.locator('.long').waitFor();
  const ms = await pauseWhile(page, () => page.evaluate(scrolling('.long')));
  await page.unrouteAll();
  return ms;
}

async function daysPause(page, visit) {
  await page.route('**/analytics/list/default/**', async (route) => {
    const response = await route.fetch();
    const report = await response.json();
    const daily = Array.from({ length: DAYS }, (_, index) => ({
      ...report.daily[0],
      date: isoOf(index * 86_400).slice(0, 10),
      searches: 1000 + index,
      zero_result_searches: index,
    }));
    await route.fulfill({ json: { ...report, daily } });
  });
  await visit('list/records/analytics?days=366');
  await page.locator('.chart').waitFor();
  const ms = await pauseWhile(page, async () => {
    await page.getByText('As a table').click();
    await page.evaluate(scrolling('html'));
  });
  await page.unrouteAll();
  return ms;
}

async function recordsPause(page, visit) {
  await visit('list/records/records');
  return pauseWhile(page, async () => {
    for (let number = 0; number < RECORD_PAGES; number += 1) {
      const next = page.getByRole('link', { name: 'Next page' });
      const target = await next.getAttribute('href');
      await next.click();
      // The address changes at once, but the rows and the link to the next page only when they are loaded.
      await page.locator(`a[href="${target}"]`).waitFor({ state: 'detached' });
      await page.evaluate(scrolling('html'));
    }
  });
}

/** Returns the longest time between two frames while the work runs. */
async function pauseWhile(page, work) {
  await page.evaluate(`(() => {
    window.pause = { longest: 0, last: performance.now(), runs: true };
    const frame = (now) => {
      window.pause.longest = Math.max(window.pause.longest, now - window.pause.last);
      window.pause.last = now;
      if (window.pause.runs) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  })()`);
  await work();
  return page.evaluate('(() => { window.pause.runs = false; return window.pause.longest; })()');
}

/** Scrolls to the end, one step per frame. */
function scrolling(selector) {
  return `new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('no frame was drawn for ${FRAME_MS_MAX} ms')), ${FRAME_MS_MAX});
    const box = document.querySelector('${selector}');
    let steps = 0;
    const step = () => {
      box.scrollTop += ${STEP_PIXELS};
      steps += 1;
      const isThrough = box.scrollTop + box.clientHeight >= box.scrollHeight - 1;
      if (steps < ${STEPS} && !(isThrough && steps > 20)) requestAnimationFrame(step);
      else resolve();
    };
    requestAnimationFrame(step);
  })`;
}

function isoOf(seconds) {
  return new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
}

function attemptOf(number) {
  return {
    delivery: `delivery-${number}`,
    event: 'list.created',
    attempt: 1,
    at_utc: isoOf(number),
    duration_ms: 12,
    status: 200,
    error: null,
    answer: `answer ${number}`,
    outcome: 'delivered',
  };
}
