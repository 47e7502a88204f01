/** What the service asks of others during a soak, on loopback: a model of vectors, one that puts results into another order, and a website that changes. */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { portOf } from '../end-to-end/lib/port.mjs';
import { vectorOf } from './actors.mjs';

/** More would take as long to crawl as a sync may take. */
export const PAGES = 40;
const LINKS = 3;

/** @typedef {{ input?: readonly string[]; documents?: readonly string[] }} Asked of either model */

/** Resolves with where it is, `change()`, after which some pages say something else, and `close()`. */
export async function startOutside() {
  let turn = 0;
  const page = (number) => {
    const links = Array.from({ length: LINKS }, (_, at) => `<a href="/p/${(number * LINKS + at) % PAGES}">on</a>`);
    const said = number % 4 === 0 ? `for the ${turn}th time` : 'as ever';
    return `<!DOCTYPE html><title>Page ${number}</title><main><h1>Page ${number}</h1><p>Gannets dive ${said}.</p>${links.join(' ')}</main>`;
  };
  const answers = {
    '/v1/embeddings': ({ input = [] }) => ({
      data: input.map((text, index) => ({ index, embedding: vectorOf(text.toLowerCase()) })),
    }),
    '/rerank': ({ documents = [] }) => ({
      results: documents.map((text, index) => ({ index, relevance_score: text.length })),
    }),
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url];
    const number = request.url === '/' ? 0 : Number(/^\/p\/(\d+)$/.exec(request.url)?.[1] ?? NaN);
    if (answer !== undefined) {
      void json(request).then((asked) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer(/** @type {Asked} */ (asked))));
      });
    } else if (number < PAGES) response.writeHead(200, { 'content-type': 'text/html' }).end(page(number));
    else response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  return {
    address: `http://127.0.0.1:${portOf(server)}`,
    change: () => (turn += 1),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
