/**
 * The pages of the console, answered from memory. Files have names that change with their content, so that a browser asks for each once;
 * the page that names them is made for each request, with a nonce that nothing else on it can know.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ROOT_PATH, SITE_PATH, takes, type PageAnswer, type PageRequest, type Site } from '../http/index.js';
import { OperatorError } from '../platform/index.js';
import { PAGE_HEADERS, pagePolicy, STRICT_TRANSPORT } from './page-policy.js';

const ASSET_PATH = `${SITE_PATH}/assets/`;
const NONCE_PLACE = '{{nonce}}';
const NONCE_BYTES = 16;
const BROTLI = '.br';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** By what a browser says it takes, and not for good: another answer is at the same place for programs. */
const LED_TO_CONSOLE: PageAnswer = {
  status: 302,
  headers: { Location: `${SITE_PATH}/`, 'Cache-Control': 'no-store', Vary: 'Accept' },
};

interface Asset {
  readonly contentType: string;
  readonly plain: Uint8Array;
  readonly brotli: Uint8Array | undefined;
  readonly etag: string;
}

export interface ConsoleSiteOptions {
  /** Where `npm run setup` puts what it builds. */
  readonly folder: string;
  /** Browsers reach the service over TLS, and are to do so always. */
  readonly tls: boolean;
}

/** Reads everything that there is. Rejects with an OperatorError where nothing has been built. */
export async function openConsoleSite({ folder, tls }: ConsoleSiteOptions): Promise<Site> {
  const page = (await builtFile(folder, 'index.html')).toString('utf8').split(NONCE_PLACE);
  const assets = await readAssets(join(folder, 'assets'));
  return {
    answer(request) {
      const { path } = request;
      if (path === ROOT_PATH) return LED_TO_CONSOLE;
      // The application's own paths are below.
      if (path === SITE_PATH) return { status: 308, headers: { Location: `${SITE_PATH}/` } };
      if (!path.startsWith(ASSET_PATH)) return pageAnswer(page, tls);
      const asset = assets.get(path.slice(ASSET_PATH.length));
      return asset === undefined ? undefined : assetAnswer(asset, request);
    },
  };
}

function pageAnswer(page: readonly string[], tls: boolean): PageAnswer {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  return {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    headers: {
      ...PAGE_HEADERS,
      'Content-Security-Policy': pagePolicy(nonce),
      'Cache-Control': 'no-store',
      ...(tls ? STRICT_TRANSPORT : {}),
    },
    body: Buffer.from(page.join(nonce)),
  };
}

function assetAnswer({ contentType, plain, brotli, etag }: Asset, request: PageRequest): PageAnswer {
  const isCompressed = brotli !== undefined && takes(request.acceptEncoding, 'br');
  const headers = {
    'Cache-Control': 'public, max-age=31536000, immutable',
    'Cross-Origin-Resource-Policy': 'same-origin',
    ETag: etag,
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
  };
  if (namesTag(request.ifNoneMatch, etag)) return { status: 304, headers };
  return isCompressed
    ? { status: 200, contentType, headers: { ...headers, 'Content-Encoding': 'br' }, body: brotli }
    : { status: 200, contentType, headers, body: plain };
}

/** Weakly, as `If-None-Match` is compared (RFC 9110, section 13.1.2). */
function namesTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((each) => each.trim().replace(/^W\//, '') === etag || each.trim() === '*');
}

async function readAssets(folder: string): Promise<ReadonlyMap<string, Asset>> {
  const names = new Set(await readdir(folder));
  const files = [...names].filter((name) => !name.endsWith(BROTLI));
  const read = async (name: string): Promise<[string, Asset]> => {
    const plain = await readFile(join(folder, name));
    const brotli = names.has(name + BROTLI) ? await readFile(join(folder, name + BROTLI)) : undefined;
    const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
    const contentType = CONTENT_TYPES[extname(name)] ?? 'application/octet-stream';
    return [name, { contentType, plain, brotli, etag: `"${hash}"` }];
  };
  return new Map(await Promise.all(files.map(read)));
}

async function builtFile(folder: string, name: string): Promise<Buffer> {
  try {
    return await readFile(join(folder, name));
  } catch (error) {
    // What else the system says, as that there is no descriptor left, is nothing of the build.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new OperatorError(
      `The console has not been built (${join(folder, name)} is missing). Run \`npm run setup\`.`,
      {
        cause: error,
      },
    );
  }
}
