/**
 * A receiver of webhooks on loopback, as cheap as possible (uWebSockets), so that the service is measured and not the receiver.
 * As a program it prints its port, and `GET /count` answers the number of deliveries.
 */
import { isMainThread } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import uws from 'uWebSockets.js';

/** Starts a receiver. `onDelivery(id, body)` returns true to accept a delivery (204), false to refuse it (503). Resolves with `{ port, close }`. */
export function startReceiver(onDelivery) {
  const app = uws.App();
  app.post('/*', (response, request) => {
    const id = request.getHeader('x-service-delivery');
    let body = Buffer.alloc(0);
    response.onAborted(() => undefined);
    response.onData((chunk, isLast) => {
      body = Buffer.concat([body, Buffer.from(chunk)]);
      if (!isLast) return;
      const taken = onDelivery(id, body);
      response.cork(() => response.writeStatus(taken ? '204 No Content' : '503 Service Unavailable').endWithoutBody());
    });
  });
  let count = () => 0;
  app.get('/count', (response) => void response.end(String(count())));
  return new Promise((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => {
      resolve({
        port: uws.us_socket_local_port(socket),
        countWith: (given) => (count = given),
        close: () => app.close(),
      });
    });
  });
}

if (isMainThread && process.argv[1] === fileURLToPath(import.meta.url)) {
  let deliveries = 0;
  const receiver = await startReceiver(() => (deliveries += 1) > 0);
  receiver.countWith(() => deliveries);
  process.stdout.write(`${receiver.port}\n`);
}
