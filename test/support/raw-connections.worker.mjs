/**
 * Sends arbitrary requests in a separate thread, so that measurements are not disturbed. Takes one message `{ port,
 * requests }` at a time and answers with the status of each request; 0 if its connection ended without an answer.
 * Requests are described in raw-connections.ts.
 */
import { connect } from 'node:net';
import { setImmediate } from 'node:timers';
import { parentPort } from 'node:worker_threads';

const PIECE_BYTES = 65_536;

/** Sends one piece per turn, so that an early answer is noticed. */
function sendOne(port, { head, bodyBytes, text, isStubborn, isReading }) {
  return new Promise((resolve) => {
    const piece = Buffer.from(text.repeat(Math.ceil(PIECE_BYTES / Math.max(1, text.length))).slice(0, PIECE_BYTES));
    let status = 0;
    let left = bodyBytes;
    const socket = connect(port, '127.0.0.1');
    const sendOn = () => {
      if (socket.destroyed) return;
      if (left === 0) {
        if (status !== 0) socket.destroy();
        if (!isReading) resolve({ status, socket });
        return;
      }
      const bytes = Math.min(left, piece.length);
      left -= bytes;
      if (socket.write(bytes === piece.length ? piece : piece.subarray(0, bytes))) setImmediate(sendOn);
      else socket.once('drain', sendOn);
    };
    socket.on('connect', () => {
      if (!isReading) socket.pause();
      socket.write([...head, ...(bodyBytes === 0 ? [] : [`Content-Length: ${bodyBytes}`]), '', ''].join('\r\n'));
      setImmediate(sendOn);
    });
    if (isReading) {
      socket.on('data', (data) => {
        if (status === 0) status = Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1'))?.[1] ?? 0);
        if (!isStubborn || left === 0) socket.destroy();
      });
    }
    // Writing after the connection has ended fails, as expected.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      resolve({ status, socket });
    });
  });
}

let open = [];

parentPort.on('message', async ({ port, requests }) => {
  for (const socket of open) socket.destroy();
  const ends = await Promise.all(requests.map((request) => sendOne(port, request)));
  open = ends.map(({ socket }) => socket).filter((socket) => !socket.destroyed);
  parentPort.postMessage(ends.map(({ status }) => status));
});
