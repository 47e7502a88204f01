/**
 * Serves what the service requests from others during a soak, on loopback: embedding, reranking, answering and transcription models; a website that
 * changes, news, an API with pages, and a receiver of webhooks that refuses at first.
 */
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { portOf } from '../end-to-end/lib/port.mjs';
import { vectorOf } from './actors.mjs';

/** Number of pages. Crawling more would exceed the time of a sync. */
export const PAGES = 40;
const LINKS = 3;
/** Terms that the proposing model returns. Its actor has searched for the first without hits. */
export const PROPOSED = ['settee', 'sofa'];

const jsonType = { 'content-type': 'application/json' };
const answerJson = (response, value, status = 200) => response.writeHead(status, jsonType).end(JSON.stringify(value));

/** Returns the models by path. `state` has `turn`, `news`, `rows`, `isAway` (for the unreliable model) and `said` (text of the recording that is transcribed next). */
function modelsOf(state) {
  const embeddings = ({ input = [] }, response) =>
    answerJson(response, { data: input.map((text, index) => ({ index, embedding: vectorOf(text.toLowerCase()) })) });
  return {
    '/v1/embeddings': embeddings,
    '/moody/v1/embeddings': (asked, response) =>
      state.isAway ? answerJson(response, { error: { message: 'away' } }, 503) : embeddings(asked, response),
    '/rerank': ({ documents = [] }, response) =>
      answerJson(response, { results: documents.map((text, index) => ({ index, relevance_score: text.length })) }),
    '/v1/chat/completions': (_asked, response) => {
      const content = JSON.stringify({ rules: [{ terms: PROPOSED }] });
      answerJson(response, { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] });
    },
  };
}

function newsOf(address, items) {
  const told = items.map(
    ({ id, text }) =>
      `<item><guid isPermaLink="false">${id}</guid><title>${id}</title><link>${address}/p/1</link><description>${text}</description></item>`,
  );
  return `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>${told.join('')}</channel></rss>`;
}

/** Starts the server. Resolves with its address, functions that change its content, and `close()`. */
export async function startOutside() {
  const state = { turn: 0, news: [], rows: [], isAway: false, said: '', pings: new Map(), isRefusing: false };
  const models = modelsOf(state);
  const page = (number) => {
    const links = Array.from({ length: LINKS }, (_, at) => `<a href="/p/${(number * LINKS + at) % PAGES}">on</a>`);
    const said = number % 4 === 0 ? `for the ${state.turn}th time` : 'as ever';
    return `<!DOCTYPE html><title>Page ${number}</title><main><h1>Page ${number}</h1><p>Gannets dive ${said}.</p>${links.join(' ')}</main>`;
  };
  const answer = async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://outside');
    const body = await buffer(request);
    const model = models[pathname];
    const number = pathname === '/' ? 0 : Number(/^\/p\/(\d+)$/.exec(pathname)?.[1] ?? NaN);
    if (model !== undefined) model(JSON.parse(body.toString()), response);
    else if (pathname === '/v1/audio/transcriptions') {
      const text = state.said;
      answerJson(response, { text, segments: text === '' ? [] : [{ start: 0, end: 1, text }] });
    } else if (pathname === '/news.xml') {
      response.writeHead(200, { 'content-type': 'application/rss+xml' }).end(newsOf(address, state.news));
    } else if (pathname === '/rows') {
      const [at, size] = ['page', 'size'].map((name) => Number(searchParams.get(name)));
      answerJson(response, { rows: state.rows.slice((at - 1) * size, at * size) });
    } else if (pathname.startsWith('/hook/')) {
      const isTaken = !state.isRefusing;
      if (isTaken) state.pings.set(pathname, (state.pings.get(pathname) ?? 0) + 1);
      response.writeHead(isTaken ? 204 : 503).end();
    } else if (number < PAGES) response.writeHead(200, { 'content-type': 'text/html' }).end(page(number));
    else response.writeHead(404).end();
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = `http://127.0.0.1:${portOf(server)}`;
  return {
    address,
    state,
    change: () => (state.turn += 1),
    setNews: (items) => (state.news = items),
    setRows: (rows) => (state.rows = rows),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
