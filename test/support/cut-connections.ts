/** TCP proxy to a service that a test can cut and restore, to simulate network failures. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export class CutConnections {
  readonly #open = new Set<Socket>();
  #isCut = false;

  private constructor(
    readonly address: string,
    private readonly close_: () => Promise<void>,
  ) {}

  /** Forwards to the port of `target` on loopback. */
  static async to(target: string): Promise<CutConnections> {
    const port = Number(new URL(target).port);
    const server = createServer((near) => {
      if (way.#isCut) {
        near.destroy();
        return;
      }
      const far = connect(port, '127.0.0.1');
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        way.#open.add(socket);
        socket.pipe(other);
        // Both ends are closed together.
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          way.#open.delete(socket);
          other.destroy();
        });
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const way: CutConnections = new CutConnections(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      () => new Promise((resolve) => server.close(() => resolve())),
    );
    return way;
  }

  /** Breaks all connections and refuses new ones. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#open) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    await this.close_();
  }
}
