/** A server of models on loopback, as several makers have it: what it answers is what a test says. */
import { ScriptedServer, type Script } from './scripted-server.js';

const DIMENSIONS = 4;

/** A vector that depends on the text alone, so that equal texts have equal ones. */
export function scriptedVector(text: string, dimensions = DIMENSIONS): number[] {
  const vector = new Array<number>(dimensions).fill(0.1);
  for (const [index, character] of [...text].entries()) {
    const at = index % dimensions;
    vector[at] = (vector[at] as number) + ((character.codePointAt(0) as number) % 17);
  }
  return vector;
}

/** Answers `/v1/embeddings` and `/rerank` as they should be. */
export const wellBehaved: Script = ({ path, body }, response) => {
  const asked = JSON.parse(body) as { input?: string[]; documents?: string[]; texts?: string[]; query?: string };
  response.setHeader('content-type', 'application/json');
  if (path.endsWith('/embeddings')) {
    // The last first: answers are told apart by their index.
    const data = (asked.input ?? []).map((text, index) => ({ index, embedding: scriptedVector(text) })).reverse();
    response.end(JSON.stringify({ data }));
  } else {
    const documents = asked.documents ?? asked.texts ?? [];
    const results = documents.map((document, index) => ({ index, relevance_score: document.length }));
    response.end(JSON.stringify({ results: results.reverse() }));
  }
};

export const answering =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Script =>
  (_asked, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };

export async function startScriptedModel(): Promise<ScriptedServer> {
  const server = await ScriptedServer.start();
  server.script = wellBehaved;
  return server;
}
