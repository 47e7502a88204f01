/** Sends a fixed number of requests over a few connections, on each the next one when the last is answered. */
import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = /^content-length: (\d+)$/im;
const OK = /^HTTP\/1\.1 20[014] /;

function bytesOf({ method = 'GET', path, body, headers = {} }, host, key) {
  const own = { Host: host, 'X-API-Key': key, ...headers };
  if (body !== undefined) {
    own['Content-Type'] = 'application/json';
    own['Content-Length'] = Buffer.byteLength(body);
  }
  const lines = Object.entries(own).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

/** Returns the bytes of the answer at the beginning of `received`, with its head; undefined until that is known. */
function answerLength(received) {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = received.toString('latin1', 0, headEnd);
  if (!OK.test(head)) throw new Error(received.toString('utf8', 0, 1000));
  return headEnd + HEAD_END.length + Number(LENGTH.exec(head)?.[1] ?? 0);
}

/** A connection for one request at a time. `ask` rejects if an answer is no success. */
async function openConnection({ address, key }) {
  const { hostname, port, host } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let pieces = [];
  let bytes = 0;
  let wanted;
  let asked;
  const fail = (error) => {
    asked?.reject(error);
    socket.destroy();
  };
  socket.on('data', (piece) => {
    pieces.push(piece);
    bytes += piece.length;
    try {
      wanted ??= answerLength(pieces.length === 1 ? piece : Buffer.concat(pieces));
    } catch (error) {
      fail(error);
      return;
    }
    if (wanted === undefined || bytes < wanted) return;
    pieces = [];
    bytes = 0;
    wanted = undefined;
    asked.resolve();
  });
  socket.once('close', () => asked?.reject(new Error('the service closed the connection')));
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.on('error', fail);
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        asked = { resolve, reject };
        socket.write(bytesOf(request, host, key));
      }),
    end: () => socket.end(),
  };
}

/** Sends the requests `{ method, path, body, headers }` that `requestAt` returns by number. Rejects at the first answer that is no success. */
export async function sendAll({ address, key, count, connections, requestAt }) {
  let sent = 0;
  const one = async () => {
    const connection = await openConnection({ address, key });
    while (sent < count) {
      sent += 1;
      await connection.ask(requestAt(sent - 1));
    }
    connection.end();
  };
  await Promise.all(Array.from({ length: connections }, one));
}
