/** A model server on loopback, compatible with several makers, whose answers a test defines. */
import { ScriptedServer, type Script } from './scripted-server.js';

const DIMENSIONS = 4;

/** Returns a vector derived from the text alone. */
export function scriptedVector(text: string, dimensions = DIMENSIONS): number[] {
  const vector = new Array<number>(dimensions).fill(0.1);
  for (const [index, character] of [...text].entries()) {
    const at = index % dimensions;
    vector[at] = (vector[at] as number) + ((character.codePointAt(0) as number) % 17);
  }
  return vector;
}

/** Answers `/v1/embeddings` and `/rerank` correctly. */
export const wellBehaved: Script = ({ path, body }, response) => {
  const asked = JSON.parse(body) as { input?: string[]; documents?: string[]; texts?: string[]; query?: string };
  response.setHeader('content-type', 'application/json');
  if (path.endsWith('/embeddings')) {
    // In reverse order, since answers are identified by their index.
    const data = (asked.input ?? []).map((text, index) => ({ index, embedding: scriptedVector(text) })).reverse();
    response.end(JSON.stringify({ data }));
  } else {
    const documents = asked.documents ?? asked.texts ?? [];
    const results = documents.map((document, index) => ({ index, relevance_score: document.length }));
    response.end(JSON.stringify({ results: results.reverse() }));
  }
};

const TOPICS: readonly (readonly string[])[] = [
  ['gannet', 'diving', 'cormorant', 'fishing', 'trawler', 'harbour', 'ocean', 'birds'],
  ['interest', 'rates', 'bonds', 'coupon', 'inflation', 'target', 'savings'],
  ['simmer', 'broth', 'knead', 'dough', 'kitchen'],
];

/** Returns a vector with a number for each of three topics. */
export function topicVector(text: string): number[] {
  const words = text.toLowerCase().split(/[^a-z]+/);
  const vector = TOPICS.map((topic) => words.filter((word) => topic.includes(word)).length);
  // Texts of the same topic differ slightly.
  const shade = ((text.codePointAt(0) ?? 0) % 7) / 50;
  return vector.map((count, index) => count + 0.05 + (index === 0 ? shade : shade / 2));
}

/** Answers `/v1/embeddings` with topic vectors. */
export const topics: Script = ({ body }, response) => {
  const { input } = JSON.parse(body) as { input: string[] };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ data: input.map((text, index) => ({ index, embedding: topicVector(text) })) }));
};

/** Answers `/v1/chat/completions` with a text derived from the last message. */
export const chatting =
  (write: (message: string) => string): Script =>
  ({ body }, response) => {
    const { messages } = JSON.parse(body) as { messages: { content: string }[] };
    const content = write(messages.at(-1)?.content ?? '');
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] }),
    );
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
