/** A model server with `/v1/embeddings` on loopback that knows the vectors of some texts, and computes others by `vectorOf` if given. */
import { createServer } from 'node:http';
import { portOf } from '../end-to-end/lib/port.mjs';

/** Normalizes white space and case, as the service trims texts and benches search in lower case. */
const keyOf = (text) => text.replaceAll(/\s+/g, ' ').trim().toLowerCase();

/**
 * Starts the server. With `port` 0 it uses any free port.
 * @param {(text: string) => readonly number[] | undefined} vectorOf
 */
export async function startKnownVectors(vectorOf = () => undefined, port = 0) {
  const known = new Map();
  const vectorFor = (text) => known.get(keyOf(text)) ?? vectorOf(text);
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { input } = JSON.parse(Buffer.concat(chunks).toString());
      const missing = input.find((text) => vectorFor(text) === undefined);
      response.writeHead(missing === undefined ? 200 : 400, { 'content-type': 'application/json' });
      const data = input.map((text, index) => ({ index, embedding: vectorFor(text) }));
      response.end(JSON.stringify(missing === undefined ? { data } : { error: `no vector of: ${missing}` }));
    });
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(undefined)));
  return {
    url: `http://127.0.0.1:${portOf(server)}/v1`,
    learn: (text, vector) => known.set(keyOf(text), vector),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
