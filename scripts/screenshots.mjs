/**
 * Takes pictures of the console with the data of the demo for README, into docs/pictures (`npm run screenshots`).
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHROMIUM_ARGUMENTS, chromiumPath } from './lib/chromium.mjs';
import { StepError } from './lib/steps.mjs';
import { reportFailure, setup } from './setup.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pictures = join(root, 'docs', 'pictures');
const WINDOW = { width: 1200, height: 760 };

/** Pages: path behind `/console/`, what is unfolded on the page, if anything, and what must be visible before the picture is taken. */
const PICTURES = [
  { name: 'search', path: 'default/list/cities/search?query=san%20fransisco&facets=country', seen: 'San Francisco' },
  {
    name: 'meaning',
    path: 'default/list/animals/search?query=diving%20sea%20brid&explain=true',
    unfold: 'Why this score?',
    seen: 'The search is similar in meaning to these records',
  },
  { name: 'fields', path: 'default/list/cities/fields', seen: 'feature_code' },
  {
    name: 'pictures',
    path: `default/list/flags/search?picture=${encodeURIComponent(JSON.stringify('media:default/flags/5.png'))}`,
    seen: 'flag-5',
  },
];

/** Drawn pictures, some similar, which the demo lacks. */
const FLAGS = 8;
const FLAG = { width: 320, height: 220 };

/** Starts the demo on a temporary folder. Resolves with its link into the console. */
async function startDemo(dataDir) {
  const env = { ...process.env, GANNET_DATA_DIR: dataDir, GANNET_PORT: '0' };
  const child = spawn(process.execPath, [join(root, 'bin', 'gannet.js'), 'demo'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8');
  await new Promise((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('Serving on')) resolve(undefined);
    });
    child.once('exit', resolve);
  });
  const [, address] = /ready on (http:\S+)/.exec(output) ?? [];
  const [, token] = /#link=(\S+)/.exec(output) ?? [];
  if (address === undefined || token === undefined)
    throw new StepError(`The demo printed no link into the console:\n${output}`);
  return { child, link: `${address}/console/#link=${token}` };
}

/** Creates a list of drawn flags in the default media store, searchable by appearance. Resolves when they are processed. */
async function addFlags(dataDir, address) {
  const env = { ...process.env, GANNET_DATA_DIR: dataDir };
  const args = ['key', 'create', '--account', 'default', '--access', 'full', '--json'];
  const { key } = JSON.parse(
    execFileSync(process.execPath, [join(root, 'bin', 'gannet.js'), ...args], { env, encoding: 'utf8' }),
  );
  const call = async (method, path, body, type = 'application/json') => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { 'X-API-Key': key, ...(body === undefined ? {} : { 'Content-Type': type }) },
      body,
    });
    if (!response.ok) throw new StepError(`${method} ${path}: ${await response.text()}`);
    return response.json();
  };
  const definition = {
    name: 'flags',
    image_model: 'built-in',
    searchable_fields: [{ name: 'title' }],
    resources: [{ name: 'picture', kind: 'image' }],
  };
  await call('POST', '/list/default', JSON.stringify(definition));
  for (let number = 0; number < FLAGS; number += 1) {
    await call('PUT', `/media/default/default/flags/${number}.png`, await drawnFlag(number), 'image/png');
    const fields = { title: `Flag no. ${number}`, picture: `media:default/flags/${number}.png` };
    await call('POST', '/search-result/default/flags', JSON.stringify({ name: `flag-${number}`, fields }));
  }
  for (;;) {
    const list = /** @type {{ resources_state?: { read: number } }} */ (await call('GET', '/list/default/flags'));
    if (list.resources_state?.read === FLAGS) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Draws stripes of three colours. Adjacent flags share two of them. */
async function drawnFlag(number) {
  const { default: sharp } = await import('sharp');
  const { width, height } = FLAG;
  const stripes = [0, 1, 2].map((stripe) => {
    const colour = `hsl(${Math.floor((number + stripe) / 2) * 70}, 65%, ${45 + stripe * 15}%)`;
    const place =
      number % 2 === 0
        ? `x="0" y="${(stripe * height) / 3}" width="${width}" height="${height / 3 + 1}"`
        : `x="${(stripe * width) / 3}" y="0" width="${width / 3 + 1}" height="${height}"`;
    return `<rect ${place} fill="${colour}"/>`;
  });
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${stripes.join('')}</svg>`;
  return sharp(Buffer.from(drawing)).png().toBuffer();
}

async function takePictures(link) {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new StepError('There is no Chromium: node scripts/install-chromium.mjs');
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath, args: [...CHROMIUM_ARGUMENTS] });
  try {
    const page = await (await browser.newContext({ viewport: WINDOW, colorScheme: 'light' })).newPage();
    await page.goto(link);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Drop a file here').waitFor();
    for (const { name, path, unfold, seen } of PICTURES) {
      await page.goto(new URL(`/console/${path}`, link).href);
      if (unfold !== undefined) await page.getByText(unfold).first().click();
      await page.getByText(seen).first().scrollIntoViewIfNeeded();
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: join(pictures, `${name}.png`) });
      process.stdout.write(`docs/pictures/${name}.png\n`);
    }
  } finally {
    await browser.close();
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-screenshots-'));
try {
  await setup({ quiet: true });
  mkdirSync(pictures, { recursive: true });
  const { child, link } = await startDemo(dataDir);
  try {
    await addFlags(dataDir, new URL(link).origin);
    await takePictures(link);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
} catch (error) {
  reportFailure(error);
  process.exitCode = 1;
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
